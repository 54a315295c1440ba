"""Daily active users from the event stream, with Spark."""

import os
import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F


def main(ds):
    spark = (
        SparkSession.builder.appName("daily_active_users")
        .master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .getOrCreate()
    )
    events = spark.read.parquet(os.environ["SHOP_LAKE"] + "/events")
    active = (
        events.where(F.col("occurred_at") >= F.current_timestamp() - F.expr("INTERVAL 1 DAY"))
        .agg(F.countDistinct("user_id").alias("active_users"))
        .withColumn("activity_date", F.lit(ds))
    )
    active.write.mode("append").parquet(os.environ["SHOP_LAKE"] + "/daily_active_users")
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
