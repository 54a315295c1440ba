-- The customer dimension, kept up to date from what the change feed delivered on a day.
CREATE SCHEMA IF NOT EXISTS mart;

CREATE TABLE IF NOT EXISTS mart.dim_customer (
  customer_id integer,
  name        text,
  email       text,
  country     text,
  tier        text,
  changed_at  timestamptz
);

MERGE INTO mart.dim_customer AS d
USING (
  SELECT customer_id, name, email, country, tier, changed_at
  FROM shop.customer_changes
  WHERE (delivered_at AT TIME ZONE 'UTC')::date = DATE '{{ ds }}'
) AS c
ON d.customer_id = c.customer_id
WHEN MATCHED THEN
  UPDATE SET name = c.name, email = c.email, country = c.country, tier = c.tier,
             changed_at = c.changed_at
WHEN NOT MATCHED THEN
  INSERT (customer_id, name, email, country, tier, changed_at)
  VALUES (c.customer_id, c.name, c.email, c.country, c.tier, c.changed_at);
