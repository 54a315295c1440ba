/*
target: mart.serving.revenue_daily
description: "O6: revenue by region and day, under a key that is the same on every run."
grain: day
write: {replace: {by: order_date}}
unique_key: revenue_key
sources:
  orders: {table: lake.raw.orders, event_time: order_date}
effects:
  revenue_posted:
    slack:
      url: ${SLACK_WEBHOOK_URL}
      summary: {total: "format_number(sum(revenue), 2)"}
      text: "Revenue of {ds}: {total}"
      allow: [private, http]  # the shop's chat listens on the loopback
*/
SELECT
  surrogate_key(order_date, region) AS revenue_key,
  order_date,
  region,
  CAST(sum(amount) AS DECIMAL(14, 2)) AS revenue
FROM orders
GROUP BY order_date, region
