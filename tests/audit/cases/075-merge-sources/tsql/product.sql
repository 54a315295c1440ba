MERGE dbo.DimProduct AS t
USING stg.Product AS s
ON t.ProductNo = s.ProductNo
WHEN MATCHED THEN UPDATE SET t.Title = s.Title
WHEN NOT MATCHED BY TARGET THEN INSERT (ProductNo, Title) VALUES (s.ProductNo, s.Title);
