UPDATE stock_level AS l
SET qty = m.total_in - m.total_out
FROM (SELECT sku, SUM(qty_in) AS total_in, SUM(qty_out) AS total_out FROM movement GROUP BY sku) AS m
WHERE l.sku = m.sku;

UPDATE price_list SET valid_to = n.valid_from - 1
FROM price_list_next AS n WHERE n.sku = price_list.sku AND price_list.valid_to IS NULL;

UPDATE price_list SET price = price * 1.02 WHERE region = 'EU';

UPDATE job_lock SET version = version + 1 WHERE id = 7 AND version = :expected;
