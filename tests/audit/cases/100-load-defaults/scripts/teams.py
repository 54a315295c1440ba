import pandas as pd
from google.cloud import bigquery

client = bigquery.Client()
teams = pd.read_csv("teams.csv")
job_config = bigquery.LoadJobConfig()
job_config.write_disposition = bigquery.WriteDisposition.WRITE_TRUNCATE
client.load_table_from_dataframe(teams, "acme.league.teams", job_config=job_config).result()

matches = pd.read_csv("matches.csv")
client.load_table_from_dataframe(matches, "acme.league.matches", job_config=bigquery.LoadJobConfig(write_disposition="WRITE_APPEND")).result()
