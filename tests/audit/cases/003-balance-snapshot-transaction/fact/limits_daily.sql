DELETE FROM mart.limits_daily
WHERE day = '${RUN_DAY}';

INSERT INTO mart.limits_daily (account_key, day, credit_limit)
SELECT account_key, day, credit_limit
FROM stage.limits
WHERE day = '${RUN_DAY}';
