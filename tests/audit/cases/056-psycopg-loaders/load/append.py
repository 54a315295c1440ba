import csv

import psycopg2

conn = psycopg2.connect("service=dwh")
cur = conn.cursor()
with open("readings.csv", newline="") as handle:
    for row in csv.reader(handle):
        cur.execute("INSERT INTO readings (sensor, at, value) VALUES (%s, %s, %s)", row)
conn.commit()
