import argparse
from datetime import date

from pyspark.sql import SparkSession

parser = argparse.ArgumentParser()
parser.add_argument("--month", type=date.fromisoformat, required=True)
month = parser.parse_args().month
spark = SparkSession.builder.getOrCreate()
spark.sql(f"CREATE OR REPLACE TABLE mart.month AS SELECT * FROM raw.sales WHERE month = '{month}'")
print("age of the run:", date.today() - month)
