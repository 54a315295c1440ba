CREATE OR ALTER PROCEDURE gold.load_sales AS
BEGIN
    SET NOCOUNT ON;
    INSERT INTO gold.fact_sales (sale_no, product_no, sold_on, amount)
    SELECT s.sale_no, s.product_no, s.sold_on, s.amount
    FROM silver.crm_sales s;
END
