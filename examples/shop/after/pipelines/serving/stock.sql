/*
target: mart.serving.stock
description: "O7: stock levels, derived from the adjustments instead of being counted down."
unique_key: sku
sources:
  opening: {table: source.shop.opening_stock, static: true}
  adjustments: {table: lake.shop.daily_inventory_adjustments, static: true}
*/
SELECT o.sku, CAST(o.qty + coalesce(sum(a.delta), 0) AS INT) AS qty
FROM opening AS o
LEFT JOIN adjustments AS a ON a.sku = o.sku
GROUP BY o.sku, o.qty
