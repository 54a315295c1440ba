TRUNCATE star.brand;
INSERT INTO star.brand (brand_id, brand_name)
SELECT nextval('star.brand_seq'), b.brand_name
FROM (SELECT DISTINCT brand_name FROM raw.products) b;
