from datetime import datetime, timedelta

import boto3

athena = boto3.client("athena")


def handler(event, context):
    hour = datetime.utcnow() - timedelta(hours=2)
    athena.start_query_execution(
        QueryString=f"INSERT INTO logs_parquet SELECT * FROM logs_json WHERE hour = '{hour:%Y-%m-%d-%H}'",
        QueryExecutionContext={"Database": "logs"},
        WorkGroup="etl",
    )
