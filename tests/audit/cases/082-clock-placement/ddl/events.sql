CREATE TABLE lake.events (
    event_id STRING,
    body STRING,
    load_date DATE DEFAULT CURRENT_DATE()
)
PARTITION BY load_date;
