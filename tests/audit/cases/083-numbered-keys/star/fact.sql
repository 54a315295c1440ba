CREATE OR REPLACE TABLE star.fact_sales AS
SELECT ROW_NUMBER() OVER () AS sale_key, s.*
FROM raw.sales s;
