/*
target: lake.shop.revenue_daily
description: Revenue per region and day.
grain: day
write: {overwrite: {by: order_date}}
unique_key: [order_date, region]
sources:
  orders: {table: lake.shop.orders, event_time: order_date}
*/
SELECT
  order_date,
  region,
  count(*) AS orders,
  sum(amount) AS revenue
FROM orders
GROUP BY order_date, region
