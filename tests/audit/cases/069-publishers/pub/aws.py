import json

import boto3

sqs = boto3.client("sqs")
sns = boto3.client("sns")


def enqueue(url, orders):
    for order in orders:
        sqs.send_message(QueueUrl=url, MessageBody=json.dumps(order))


def enqueue_fifo(url, orders):
    for order in orders:
        sqs.send_message(
            QueueUrl=url,
            MessageBody=json.dumps(order),
            MessageGroupId="orders",
            MessageDeduplicationId=order["order_id"],
        )


def announce(topic, day):
    sns.publish(TopicArn=topic, Message=f"load of {day} done")
