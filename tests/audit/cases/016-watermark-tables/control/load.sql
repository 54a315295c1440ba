DECLARE @since DATETIME = (SELECT last_loaded_at FROM etl.watermark WHERE table_name = 'payment');
DECLARE @upto DATETIME = SYSUTCDATETIME();
TRUNCATE TABLE stage.payment;
INSERT INTO stage.payment (payment_no, amount, modified_at)
SELECT payment_no, amount, modified_at FROM src.payment
WHERE modified_at > @since AND modified_at <= @upto;
UPDATE etl.watermark SET last_loaded_at = @upto WHERE table_name = 'payment';
