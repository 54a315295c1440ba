/*
target: lake.verified.clock_in_sql
grain: day
write: {overwrite: {by: day}}
sources:
  orders: {table: lake.raw.orders, event_time: ordered_at}
*/
-- cause: clock
-- checks: plan
SELECT order_id, to_date(ordered_at) AS day, current_date() AS loaded_on FROM orders
