CREATE OR REPLACE TABLE star.product AS
SELECT md5(concat_ws('|', p.supplier_no, p.article_no)) AS product_key,
       p.article_no,
       p.title
FROM raw.products p;
