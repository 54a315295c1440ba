BEGIN;
DELETE FROM mart.sales_daily WHERE day = :'ds';
INSERT INTO mart.sales_daily SELECT * FROM raw.sales WHERE day = :'ds'::date;
COMMIT;

DELETE FROM mart.sales_hourly;
INSERT INTO mart.sales_hourly SELECT * FROM raw.sales WHERE day = '{{ ds }}';
