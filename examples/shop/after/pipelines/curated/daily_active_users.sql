/*
target: lake.shop.daily_active_users
description: "O5: who was active on a calendar day, not in the 24 hours before the run."
grain: day
write: {overwrite: {by: activity_date}}
unique_key: activity_date
sources:
  events: {table: lake.shop.events, event_time: event_date}
*/
SELECT event_date AS activity_date, count(DISTINCT user_id) AS active_users
FROM events
GROUP BY event_date
