import time

import boto3

table = boto3.resource("dynamodb").Table("cursors")


def save_cursor(stream):
    table.put_item(Item={"stream": stream, "last_polled": int(time.time())})


def save_offset(stream, offset):
    table.put_item(Item={"stream": stream, "offset": offset})
