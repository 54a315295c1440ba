/*
target: lake.shop.daily_inventory_adjustments
description: "O7: a day's adjustments, numbered by what they are, not by when they were booked."
grain: day
write: {overwrite: {by: adjustment_date}}
unique_key: txn_id
sources:
  movements: {table: lake.raw.inventory_movements, event_time: moved_on}
effects:
  warehouse_told:
    email:
      server: ${SMTP_HOST}:${SMTP_PORT}
      tls: none  # the shop's mail server listens on the loopback
      sender: pipelines@shop.example
      to: warehouse@shop.example
      summary: {booked: "count(txn_id)"}
      subject: "Inventory of {ds}: {booked} adjustments"
      text: They are booked and taken off the stock.
*/
SELECT surrogate_key(movement_id) AS txn_id, moved_on AS adjustment_date, sku, delta
FROM movements
