INSERT INTO hive.raw.forex_day (id, rate, day)
SELECT id, rate, day
FROM cassandra.forex.rate_day
WHERE day > (SELECT COALESCE(MAX(day), DATE '1970-01-01') FROM hive.raw.forex_day);
