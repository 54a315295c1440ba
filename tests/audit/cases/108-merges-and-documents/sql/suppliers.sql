MERGE INTO dim.suppliers AS t
USING stage.suppliers AS s
ON t.supplier_no = s.supplier_no
WHEN MATCHED THEN UPDATE SET city = s.city, deleted_at = NULL
WHEN NOT MATCHED THEN INSERT (supplier_no, city) VALUES (s.supplier_no, s.city)
WHEN NOT MATCHED BY SOURCE THEN UPDATE SET deleted_at = GETDATE();

MERGE INTO dim.prices AS t
USING stage.prices AS s
ON 1 = 0
WHEN NOT MATCHED THEN INSERT (sku, price) VALUES (s.sku, s.price)
WHEN NOT MATCHED BY SOURCE AND t.valid_on = '{{ ds }}' THEN DELETE;
