import sys

from awsglue.context import GlueContext
from awsglue.dynamicframe import DynamicFrame
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext

args = getResolvedOptions(sys.argv, ["JOB_NAME"])
glue = GlueContext(SparkContext())
spark = glue.spark_session
job = Job(glue)
job.init(args["JOB_NAME"], args)

reviews = DynamicFrame.fromDF(spark.read.json("s3://acme-landing/reviews/"), glue, "reviews")
glue.write_dynamic_frame.from_options(
    frame=reviews,
    connection_type="s3",
    connection_options={"path": "s3://acme-curated/reviews", "partitionKeys": ["review_date"]},
    format="parquet",
)
job.commit()
