BEGIN;

DELETE FROM mart.balance_daily
WHERE batch_no = (SELECT MAX(batch_no) FROM stage.account);

INSERT INTO mart.balance_daily (account_key, day, closing, batch_no, loaded_at)
SELECT a.account_key, s.day, s.closing, s.batch_no, CURRENT_TIMESTAMP
FROM stage.account s
JOIN mart.dim_account a ON a.account_no = s.account_no;

COMMIT;
