CREATE OR ALTER PROCEDURE silver.load_silver AS
BEGIN
    DECLARE @start_time DATETIME;
    SET @start_time = GETDATE();
    TRUNCATE TABLE silver.crm_customer;
    INSERT INTO silver.crm_customer (customer_no, first_name, marital)
    SELECT customer_no, TRIM(first_name), UPPER(marital)
    FROM bronze.crm_customer;
    PRINT 'seconds: ' + CAST(DATEDIFF(second, @start_time, GETDATE()) AS NVARCHAR);
END
