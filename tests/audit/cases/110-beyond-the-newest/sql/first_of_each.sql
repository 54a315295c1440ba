MERGE INTO dim.drivers t
USING (
    SELECT * FROM stage.drivers
    ORDER BY ROW_NUMBER() OVER (PARTITION BY driver_id ORDER BY changed_at DESC)
    FETCH FIRST 1 ROWS WITH TIES
) s
ON t.driver_id = s.driver_id
WHEN MATCHED THEN UPDATE SET name = s.name
WHEN NOT MATCHED THEN INSERT (driver_id, name) VALUES (s.driver_id, s.name);
