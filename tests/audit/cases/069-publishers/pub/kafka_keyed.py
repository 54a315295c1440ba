import json

from confluent_kafka import Producer

producer = Producer({"bootstrap.servers": "kafka:9092", "transactional.id": "payments-export", "enable.idempotence": True})


def export(rows):
    producer.init_transactions()
    producer.begin_transaction()
    for row in rows:
        producer.produce("payments", key=str(row["payment_id"]), value=json.dumps(row))
    producer.commit_transaction()
