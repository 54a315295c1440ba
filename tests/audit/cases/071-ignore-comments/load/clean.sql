-- setpoint: ignore[T01] compares with the clock on purpose
CREATE OR REPLACE TABLE fin.accounts_flat AS
SELECT account_no, owner FROM fin.accounts;
