import sys

from awsglue.context import GlueContext
from awsglue.dynamicframe import DynamicFrame
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext

args = getResolvedOptions(sys.argv, ["JOB_NAME", "day"])
glue = GlueContext(SparkContext())
target = f"s3://acme-curated/products/day={args['day']}/"
frame = DynamicFrame.fromDF(glue.spark_session.read.json(f"s3://acme-landing/products/{args['day']}/"), glue, "p")
glue.purge_s3_path(target, options={"retentionPeriod": 0})
glue.write_dynamic_frame.from_options(
    frame=frame,
    connection_type="s3",
    connection_options={"path": target},
    format="parquet",
)
