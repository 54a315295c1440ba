MERGE INTO gold.account_totals t
USING (SELECT account_id, SUM(amount) AS amount FROM silver.movements WHERE day = '2024-05-01' GROUP BY account_id) s
ON t.account_id = s.account_id
WHEN MATCHED THEN UPDATE SET t.total = t.total + s.amount
WHEN NOT MATCHED THEN INSERT (account_id, total) VALUES (s.account_id, s.amount);
