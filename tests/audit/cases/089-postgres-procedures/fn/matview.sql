CREATE MATERIALIZED VIEW rpt.top_pages AS
SELECT page, count(*) AS n FROM raw.visits GROUP BY page;
REFRESH MATERIALIZED VIEW rpt.top_pages;
