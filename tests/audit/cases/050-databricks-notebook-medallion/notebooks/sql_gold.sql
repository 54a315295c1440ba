-- Databricks notebook source
CREATE OR REPLACE TABLE gold.revenue AS
SELECT order_day, SUM(amount) AS revenue FROM silver.orders GROUP BY order_day;

-- COMMAND ----------

INSERT INTO gold.revenue_history
SELECT order_day, revenue, region
FROM gold.revenue_by_region;

-- COMMAND ----------

COPY INTO bronze.invoices
FROM '/Volumes/landing/invoices'
FILEFORMAT = CSV
FORMAT_OPTIONS ('header' = 'true');
