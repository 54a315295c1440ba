MERGE INTO gold.store_totals t
USING (
  SELECT store_id, SUM(amount) AS total FROM silver.sales GROUP BY store_id
) s
ON t.store_id = s.store_id
WHEN MATCHED THEN UPDATE SET total = s.total
WHEN NOT MATCHED THEN INSERT (store_id, total) VALUES (s.store_id, s.total);
