CREATE TABLE IF NOT EXISTS dim_payment (
    payment_sk INT NOT NULL AUTO_INCREMENT,
    payment_type VARCHAR(20),
    PRIMARY KEY (payment_sk)
);
