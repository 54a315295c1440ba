CREATE OR REPLACE TABLE star.colour AS
SELECT ROW_NUMBER() OVER (ORDER BY colour_name) AS colour_id,
       colour_name
FROM (SELECT DISTINCT colour_name FROM raw.products);
