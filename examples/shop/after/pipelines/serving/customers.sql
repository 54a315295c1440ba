/*
target: mart.serving.customers
description: "O4: the dimension as the shop's own tools read it."
unique_key: customer_id
sources:
  dimension: {table: lake.shop.dim_customer, static: true}
*/
SELECT customer_id, name, email, country, tier, changed_at
FROM dimension
