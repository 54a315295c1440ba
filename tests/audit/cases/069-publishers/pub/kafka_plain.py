import json

import pandas as pd
from kafka import KafkaProducer

producer = KafkaProducer(bootstrap_servers="kafka:9092", value_serializer=lambda v: json.dumps(v).encode())
for row in pd.read_csv("payments.csv").to_dict("records"):
    producer.send("payments", row)
producer.flush()
