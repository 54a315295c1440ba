CREATE OR REPLACE TABLE star.top_products AS
SELECT category_id, article_no, revenue,
       RANK() OVER (PARTITION BY category_id ORDER BY revenue DESC) AS place
FROM star.product_revenue;
