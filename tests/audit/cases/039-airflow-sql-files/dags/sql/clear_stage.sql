TRUNCATE TABLE stage.sales_in;
