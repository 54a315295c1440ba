SALES = "mart.sales_daily"
SCRATCH = "tmp_sales"
