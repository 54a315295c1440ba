MERGE dbo.Setting AS t
USING (SELECT @Name AS Name, @Value AS Value) AS s
ON t.Name = s.Name
WHEN MATCHED THEN UPDATE SET t.Value = s.Value
WHEN NOT MATCHED THEN INSERT (Name, Value) VALUES (s.Name, s.Value);
