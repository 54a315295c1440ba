-- looked at by hand on Mondays
SELECT channel, COUNT(*) AS n
FROM `acme.web.sessions`
WHERE DATE(started_at) >= DATE_SUB(CURRENT_DATE(), INTERVAL 7 DAY)
GROUP BY channel;
