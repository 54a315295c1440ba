import json

import pandas as pd
import requests

late = pd.read_csv("late.csv")
text = f"{len(late)} parcels are late"
answer = requests.request(
    "POST", "https://hooks.slack.com/services/T/B/x", data=json.dumps({"text": text})
)
open_routes = requests.request("GET", "https://depot.example/routes")
