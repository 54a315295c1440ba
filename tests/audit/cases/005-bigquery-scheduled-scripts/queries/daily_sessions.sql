INSERT INTO `acme.web.daily_sessions` (day, channel, sessions)
SELECT DATE(started_at) AS day, channel, COUNT(*) AS sessions
FROM `acme.web.sessions`
WHERE DATE(started_at) = DATE_SUB(CURRENT_DATE(), INTERVAL 1 DAY)
GROUP BY 1, 2;
