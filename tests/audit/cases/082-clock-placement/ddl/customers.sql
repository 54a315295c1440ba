CREATE TABLE core.customers (
    customer_id INT PRIMARY KEY,
    city TEXT,
    created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP
);
