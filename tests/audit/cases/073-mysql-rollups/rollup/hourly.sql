INSERT INTO metric_hour (hour_start, metric, event_count)
SELECT DATE_FORMAT(created_at, '%Y-%m-%d %H:00:00'), kind, COUNT(*)
FROM raw_event
WHERE created_at >= '2024-05-01'
GROUP BY 1, 2
ON DUPLICATE KEY UPDATE event_count = event_count + VALUES(event_count);
