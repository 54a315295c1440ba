CREATE OR REPLACE FUNCTION rpt.refresh_day(p_day date) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    CREATE TEMP TABLE t_visits ON COMMIT DROP AS SELECT * FROM raw.visits WHERE day = p_day;
    INSERT INTO t_visits SELECT * FROM raw.visits_late WHERE day = p_day;
    DELETE FROM rpt.daily WHERE day = p_day;
    INSERT INTO rpt.daily (day, visits) SELECT day, count(*) FROM t_visits GROUP BY day;
    RAISE NOTICE 'refreshed % at %', p_day, clock_timestamp();
END $$;
