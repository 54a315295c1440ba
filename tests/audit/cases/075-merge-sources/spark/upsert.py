def upsert(spark, table, view):
    spark.sql(f"""
        MERGE INTO {table} t USING {view} s
        ON t.id = s.id
        WHEN MATCHED THEN UPDATE SET *
        WHEN NOT MATCHED THEN INSERT *
    """)


def upsert_latest(spark, frame, table):
    frame.dropDuplicates(["id"]).createOrReplaceTempView("latest")
    spark.sql(f"""
        MERGE INTO {table} t USING latest s
        ON t.id = s.id
        WHEN MATCHED THEN UPDATE SET *
        WHEN NOT MATCHED THEN INSERT *
    """)
