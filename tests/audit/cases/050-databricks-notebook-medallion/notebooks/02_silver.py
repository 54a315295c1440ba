# Databricks notebook source
# MAGIC %md
# MAGIC # Silver: run with current_date() of the job if no widget is given

# COMMAND ----------

dbutils.widgets.text("day", "")
day = dbutils.widgets.get("day")

# COMMAND ----------

orders = spark.table("bronze.orders").where(f"order_day = '{day}'")
orders.write.format("delta").mode("append").saveAsTable("silver.orders")

# COMMAND ----------

# MAGIC %sql
# MAGIC DELETE FROM silver.lines WHERE order_day = getArgument('day')

# COMMAND ----------

# MAGIC %sql
# MAGIC INSERT INTO silver.lines SELECT * FROM bronze.lines WHERE order_day = getArgument('day')

# COMMAND ----------

# MAGIC %sql
# MAGIC CREATE OR REPLACE TABLE silver.shops AS SELECT DISTINCT shop_id, city FROM bronze.orders

# COMMAND ----------

display(spark.sql("SELECT * FROM silver.orders WHERE order_day = current_date()"))
