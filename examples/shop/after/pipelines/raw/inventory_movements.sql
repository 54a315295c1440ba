/*
target: lake.raw.inventory_movements
description: Goods that came and went on a day.
grain: day
write: {overwrite: {by: moved_on}}
unique_key: movement_id
sources:
  movements: {table: source.shop.inventory_movements, event_time: moved_at}
*/
SELECT movement_id, sku, delta, moved_at, to_date(moved_at) AS moved_on
FROM movements
