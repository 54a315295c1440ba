DECLARE d DATE DEFAULT @run_date;
BEGIN TRANSACTION;
DELETE FROM shop.refunds_daily WHERE day = d;
INSERT INTO shop.refunds_daily (day, store_id, refunds)
SELECT DATE(refunded_at), store_id, COUNT(*)
FROM shop.refunds
WHERE DATE(refunded_at) = d
GROUP BY 1, 2;
COMMIT TRANSACTION;
