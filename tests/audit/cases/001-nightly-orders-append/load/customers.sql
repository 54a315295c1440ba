-- full reload of a small staging copy
TRUNCATE TABLE stage.customers_flat;

INSERT INTO stage.customers_flat (customer_id, segment, country)
SELECT c.id, c.segment, c.country_code
FROM crm.customers c;
