def write_days(df, target, fmt):
    df.coalesce(8).write.partitionBy("year", "month", "day").mode("append").format(fmt).save(target)


def write_day(df, target, day):
    df.coalesce(1).write.mode("overwrite").parquet(f"{target}/day={day}")


def write_default(df, target):
    df.write.format("parquet").save(target)


def preview(df):
    df.limit(20).write.mode("append").format("noop").save()
