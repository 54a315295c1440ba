/*
target: lake.verified.joins_a_lookup
grain: day
write: {overwrite: {by: day}}
unique_key: [order_id]
sources:
  orders: {table: lake.raw.orders, event_time: ordered_at}
*/
-- checks: two,order,partitioning
SELECT order_id, region, upper(status) AS status, amount, to_date(ordered_at) AS day
FROM orders
WHERE amount > 1
