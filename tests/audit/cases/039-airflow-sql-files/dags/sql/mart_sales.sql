INSERT INTO mart.sales (sale_id, sold_on, amount)
SELECT sale_id, sold_on, amount
FROM stage.sales_in;
