INSERT INTO stage.sales_in (sale_id, sold_on, amount)
SELECT sale_id, sold_on, amount
FROM pos.sales
WHERE sold_on = '{{ ds }}';
