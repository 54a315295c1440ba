CREATE OR REPLACE STREAM raw.orders_stream ON TABLE raw.orders APPEND_ONLY = TRUE;

CREATE OR REPLACE TASK silver.load_orders
  WAREHOUSE = etl SCHEDULE = '5 MINUTE'
  WHEN SYSTEM$STREAM_HAS_DATA('raw.orders_stream')
AS
INSERT INTO silver.orders (order_id, amount)
SELECT order_id, amount FROM raw.orders_stream;
