SELECT * FROM (
    SELECT s.*, ROW_NUMBER() OVER (ORDER BY sold_at DESC) AS position FROM raw.sales s
) WHERE position BETWEEN 101 AND 200;
