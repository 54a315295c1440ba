import json

from google.cloud import pubsub_v1

publisher = pubsub_v1.PublisherClient()


def publish(topic, rows):
    for row in rows:
        publisher.publish(topic, json.dumps(row).encode())


def consume(subscriber, path, callback):
    return subscriber.subscribe(path, callback=callback)
