from google.cloud import bigquery

client = bigquery.Client()
config = bigquery.LoadJobConfig(write_disposition="WRITE_APPEND")
config.write_disposition = "WRITE_TRUNCATE"
client.load_table_from_uri("gs://landing/rates.csv", "acme.ref.rates", job_config=config).result()
