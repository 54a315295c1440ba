DECLARE cutoff DATE DEFAULT DATE_SUB(CURRENT_DATE(), INTERVAL 3 DAY);
DELETE FROM shop.vouchers_open WHERE issued_on >= cutoff;
INSERT INTO shop.vouchers_open
SELECT voucher_id, issued_on, amount FROM shop.vouchers
WHERE issued_on >= cutoff AND redeemed_at IS NULL;
