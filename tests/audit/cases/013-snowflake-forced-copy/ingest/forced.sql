COPY INTO raw.invoices
FROM @landing/invoices/
FILE_FORMAT = (TYPE = CSV SKIP_HEADER = 1)
FORCE = TRUE;
