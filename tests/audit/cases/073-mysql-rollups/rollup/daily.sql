INSERT INTO metric_day (day, metric, event_count)
SELECT DATE(created_at), kind, COUNT(*)
FROM raw_event
GROUP BY 1, 2
ON DUPLICATE KEY UPDATE event_count = VALUES(event_count);
