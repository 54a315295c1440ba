MERGE INTO gold.dim_customer AS t
USING (
  SELECT customer_id, city, updated_at
  FROM bronze.customer_changes
  QUALIFY ROW_NUMBER() OVER (PARTITION BY customer_id ORDER BY updated_at DESC, change_no DESC) = 1
) AS s
ON t.customer_id = s.customer_id
WHEN MATCHED AND s.updated_at > t.updated_at THEN UPDATE SET city = s.city, updated_at = s.updated_at
WHEN NOT MATCHED THEN INSERT (customer_id, city, updated_at) VALUES (s.customer_id, s.city, s.updated_at);
