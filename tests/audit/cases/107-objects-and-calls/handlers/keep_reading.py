import json
import uuid

import boto3

store = boto3.client("s3")


def handler(event, context):
    reading = event["reading"]
    key = f"readings/{reading['day']}/{uuid.uuid4()}.json"
    store.put_object(Bucket="meters", Key=key, Body=json.dumps(reading))


def keep_by_id(event, context):
    reading = event["reading"]
    key = f"readings/{reading['day']}/{reading['id']}.json"
    store.put_object(Bucket="meters", Key=key, Body=json.dumps(reading))
