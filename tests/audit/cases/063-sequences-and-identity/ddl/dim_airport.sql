CREATE TABLE IF NOT EXISTS dw.dim_airport (
    airport_key INT IDENTITY(1, 1) PRIMARY KEY,
    iata_code CHAR(3),
    city VARCHAR(80)
);
