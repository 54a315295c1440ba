CREATE TABLE dw.dim_airline (
    airline_key CHAR(32) PRIMARY KEY,
    airline_code VARCHAR(3) NOT NULL
);
