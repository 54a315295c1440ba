REPLACE INTO metric_recent (device_id, seen)
SELECT device_id, MAX(created_at)
FROM raw_event
WHERE created_at >= DATE_SUB(UTC_TIMESTAMP(), INTERVAL 1 DAY)
GROUP BY device_id;
