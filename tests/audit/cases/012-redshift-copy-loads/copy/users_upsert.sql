BEGIN;
CREATE TEMP TABLE users_in (LIKE dw.users);
COPY users_in FROM 's3://acme-landing/users/'
IAM_ROLE 'arn:aws:iam::111122223333:role/loader' FORMAT AS CSV;
DELETE FROM dw.users USING users_in WHERE dw.users.user_id = users_in.user_id;
INSERT INTO dw.users SELECT * FROM users_in;
COMMIT;
