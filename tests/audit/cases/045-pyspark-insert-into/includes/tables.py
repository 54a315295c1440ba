def put(df, table):
    df.write.insertInto(table)


def put_again(df, table):
    df.write.insertInto(table, overwrite=True)


def put_mode(df, table):
    df.write.mode("overwrite").insertInto(table)


def put_rows(spark, table):
    spark.sql(f"INSERT INTO {table} SELECT * FROM incoming_rows")


def put_v2(df, table):
    df.writeTo(table).append()
