INSERT INTO page_views_daily AS t (day, page_id, views)
SELECT DATE(seen_at), page_id, COUNT(*)
FROM raw_hits
WHERE seen_at >= '{{ data_interval_start }}' AND seen_at < '{{ data_interval_end }}'
GROUP BY 1, 2
ON CONFLICT (day, page_id) DO UPDATE
SET views = t.views + EXCLUDED.views;
