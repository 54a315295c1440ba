/*
target: lake.shop.events
description: "O8: a day of events, replaced in one commit. No reader sees the day missing."
grain: day
write: {overwrite: {by: event_date}}
unique_key: event_id
sources:
  events: {table: source.shop.events, event_time: occurred_at}
*/
SELECT to_date(occurred_at) AS event_date, event_id, user_id, kind, occurred_at
FROM events
