/*
target: lake.verified.ties_in_sql
grain: day
write: {overwrite: {by: day}}
sources:
  orders: {table: lake.raw.orders, event_time: ordered_at}
*/
-- cause: row order
-- checks: two,partitioning
SELECT order_id, to_date(ordered_at) AS day, row_number() OVER (ORDER BY status) AS place FROM orders
