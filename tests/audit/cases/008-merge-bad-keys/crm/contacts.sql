MERGE INTO crm.contacts c
USING (
  SELECT LOWER(email) AS email, MAX(full_name) AS full_name FROM landing.form_posts GROUP BY LOWER(email)
) f
ON c.email = f.email
WHEN MATCHED THEN UPDATE SET full_name = f.full_name
WHEN NOT MATCHED THEN INSERT (email, full_name) VALUES (f.email, f.full_name);
