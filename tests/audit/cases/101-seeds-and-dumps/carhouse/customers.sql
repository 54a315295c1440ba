CREATE TABLE IF NOT EXISTS customers (
    id INT PRIMARY KEY,
    first_name VARCHAR(50)
);
INSERT INTO customers (id, first_name) VALUES (1, 'K');
INSERT INTO customers (id, first_name) VALUES (2, 'C');
