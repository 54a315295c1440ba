/*
target: lake.shop.daily_inventory_adjustments
description: "O7: a day's adjustments, numbered by what they are, not by when they were booked."
grain: day
write: {overwrite: {by: adjustment_date}}
unique_key: txn_id
sources:
  movements: {table: lake.raw.inventory_movements, event_time: moved_on}
*/
SELECT surrogate_key(movement_id) AS txn_id, moved_on AS adjustment_date, sku, delta
FROM movements
