/*
target: lake.shop.fct_payments
description: "O3: payments with the country of their customer."
grain: day
write: {overwrite: {by: created_on}}
unique_key: payment_id
sources:
  payments: {table: lake.raw.payments, event_time: created_on}
  customers: {table: source.shop.customers, static: true}
*/
SELECT p.payment_id, p.customer_id, c.country, p.amount, p.status, p.created_at, p.created_on
FROM payments AS p
LEFT JOIN customers AS c ON c.customer_id = p.customer_id
