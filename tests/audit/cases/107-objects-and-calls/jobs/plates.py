import datetime

from awsglue.context import GlueContext

since = datetime.datetime.now() - datetime.timedelta(hours=1)
glue = GlueContext(spark)
plates = glue.create_dynamic_frame_from_catalog(
    database="roads",
    table_name="plates",
    push_down_predicate=f"day = {since.day} and hour = {since.hour}",
)
plates.toDF().write.mode("overwrite").parquet("s3://roads/plates_latest/")
