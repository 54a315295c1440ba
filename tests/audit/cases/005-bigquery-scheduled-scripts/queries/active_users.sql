CREATE OR REPLACE TABLE `acme.web.active_users_28d` AS
SELECT user_id, MAX(seen_at) AS last_seen
FROM `acme.web.events`
WHERE seen_at >= TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 28 DAY)
GROUP BY user_id;
