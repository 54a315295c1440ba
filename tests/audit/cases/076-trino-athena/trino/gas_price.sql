INSERT INTO hive.raw.gas_price_day (id, close_price, day)
SELECT id, close_price, day
FROM cassandra.gas.price_day
WHERE day >= date_add('day', -7, current_date);
