CREATE OR REPLACE TASK gold.snap_prices
  WAREHOUSE = etl SCHEDULE = 'USING CRON 0 3 * * * UTC'
AS
INSERT INTO gold.price_history (sku, price, snap_date)
SELECT sku, price, CURRENT_DATE()
FROM silver.prices;
