import json

from confluent_kafka import Producer

producer = Producer({"bootstrap.servers": "kafka:9092"})


def export(frame):
    for row in frame.to_dict("records"):
        producer.produce("prices", value=json.dumps(row))
    producer.flush()
