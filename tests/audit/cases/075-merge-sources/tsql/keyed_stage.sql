CREATE TABLE #incoming (StoreNo INT NOT NULL PRIMARY KEY, City NVARCHAR(60));
INSERT INTO #incoming (StoreNo, City) SELECT StoreNo, City FROM ext.Store;
MERGE dbo.DimStore AS t
USING #incoming AS s
ON t.StoreNo = s.StoreNo
WHEN MATCHED THEN UPDATE SET t.City = s.City
WHEN NOT MATCHED THEN INSERT (StoreNo, City) VALUES (s.StoreNo, s.City);
