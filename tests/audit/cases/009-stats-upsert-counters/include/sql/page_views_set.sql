INSERT INTO page_views_daily (day, page_id, views)
SELECT DATE(seen_at), page_id, COUNT(*)
FROM raw_hits
WHERE DATE(seen_at) = '{{ ds }}'
GROUP BY 1, 2
ON CONFLICT (day, page_id) DO UPDATE
SET views = EXCLUDED.views;
