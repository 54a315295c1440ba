CREATE TABLE star.dim_store AS
SELECT DENSE_RANK() OVER (ORDER BY store_name) AS store_id, store_name, city
FROM (SELECT DISTINCT store_name, city FROM raw.sales);
