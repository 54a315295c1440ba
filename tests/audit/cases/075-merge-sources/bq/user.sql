MERGE `acme.core.user` t
USING (SELECT DISTINCT user_id, full_name, updated_at FROM `acme.raw.user_events`) s
ON t.user_id = s.user_id
WHEN MATCHED THEN UPDATE SET full_name = s.full_name
WHEN NOT MATCHED THEN INSERT (user_id, full_name) VALUES (s.user_id, s.full_name);
