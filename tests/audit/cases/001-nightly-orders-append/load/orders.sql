-- nightly: copy what the shop exported into the fact table
INSERT INTO dw.fact_orders (order_id, customer_id, ordered_at, amount)
SELECT o.order_id, o.customer_id, o.ordered_at, o.amount
FROM stage.orders_export o
WHERE o.amount IS NOT NULL;
