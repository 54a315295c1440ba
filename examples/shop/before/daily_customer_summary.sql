-- Orders and revenue per customer and day, for the sales dashboard.
CREATE SCHEMA IF NOT EXISTS mart;

CREATE TABLE IF NOT EXISTS mart.daily_customer_summary (
  order_date  date,
  customer_id integer,
  orders      integer,
  revenue     numeric(14, 2)
);

INSERT INTO mart.daily_customer_summary
SELECT
  (ordered_at AT TIME ZONE 'UTC')::date AS order_date,
  customer_id,
  count(*) AS orders,
  sum(amount) AS revenue
FROM shop.orders
WHERE (ordered_at AT TIME ZONE 'UTC')::date = DATE '{{ ds }}'
GROUP BY 1, 2;
