MERGE `acme.core.seen_user` t
USING (SELECT DISTINCT user_id FROM `acme.raw.user_events`) s
ON t.user_id = s.user_id
WHEN NOT MATCHED THEN INSERT (user_id) VALUES (s.user_id);
