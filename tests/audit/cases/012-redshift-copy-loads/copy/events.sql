COPY raw.events FROM 's3://acme-landing/events/2024-05-01/'
IAM_ROLE 'arn:aws:iam::111122223333:role/loader'
FORMAT AS PARQUET;
