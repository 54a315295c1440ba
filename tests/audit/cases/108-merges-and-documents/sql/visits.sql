INSERT INTO gold.visits_daily (day, visits)
SELECT day, count() FROM silver.visits FINAL
WHERE day IN (SELECT DISTINCT day FROM silver.visits FINAL WHERE batch = '{batch}')
GROUP BY day
