INSERT INTO session_day (device_id, day, seconds)
SELECT device_id, DATE(started_at), SUM(seconds)
FROM raw_session
GROUP BY 1, 2;
