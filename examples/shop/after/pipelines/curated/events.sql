/*
target: lake.shop.events
description: "O8: a day of events, replaced in one commit. No reader sees the day missing."
grain: day
write: {overwrite: {by: event_date}}
unique_key: event_id
sources:
  events: {table: source.shop.events, event_time: occurred_at}
effects:
  purchase_published:
    http:
      url: ${BROKER_URL}/topics/shop.purchases
      each: event_id
      where: kind = 'purchase'
      body: {records: [{key: "{event_id}", value: {event_id: "{event_id}", user_id: "{user_id}"}}]}
      allow: [private, http]  # the shop's broker listens on the loopback
*/
SELECT to_date(occurred_at) AS event_date, event_id, user_id, kind, occurred_at
FROM events
