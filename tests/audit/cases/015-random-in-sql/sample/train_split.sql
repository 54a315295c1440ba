CREATE OR REPLACE TABLE ml.train_rows AS
SELECT * FROM ml.features WHERE RAND() < 0.8;
