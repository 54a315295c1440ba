CREATE TABLE survey.panel_next AS
SELECT customer_id FROM crm.customers
ORDER BY RANDOM() LIMIT 500;
