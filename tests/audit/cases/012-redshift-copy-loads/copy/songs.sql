TRUNCATE raw.songs;
COPY raw.songs FROM 's3://acme-landing/songs/'
IAM_ROLE 'arn:aws:iam::111122223333:role/loader'
FORMAT AS JSON 'auto';
