CREATE OR REPLACE TABLE star.visit_order AS
SELECT patient_id, visit_id,
       ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY visited_at, visit_id) AS visit_no
FROM raw.visits;
