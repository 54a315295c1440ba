MERGE INTO gold.dim_customer AS t
USING bronze.customer_changes AS s
ON t.customer_id = s.customer_id
WHEN MATCHED THEN UPDATE SET
  t.city = s.city,
  t.updated_at = s.updated_at
WHEN NOT MATCHED THEN INSERT (customer_id, city, updated_at)
VALUES (s.customer_id, s.city, s.updated_at);
