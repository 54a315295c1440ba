import argparse
from datetime import datetime

import pandas as pd
import requests
from sqlalchemy import create_engine

parser = argparse.ArgumentParser()
parser.add_argument("--start", required=True)
parser.add_argument("--end", required=True)
args = parser.parse_args()
print(f"started at {datetime.now():%H:%M}")
rows = requests.get("https://stocks.example.com/bars", params={"from": args.start, "to": args.end}, timeout=30).json()
frame = pd.DataFrame(rows)
frame["fetched_at"] = datetime.now()
frame.to_sql("bars", create_engine("sqlite:///stocks.db"), if_exists="replace", index=False)
