CREATE OR REPLACE FUNCTION rpt.refresh_daily() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM rpt.daily WHERE day = current_date - 1;
    INSERT INTO rpt.daily (day, visits)
    SELECT day, count(*) FROM raw.visits
    WHERE day = current_date - 1
    GROUP BY day;
END $$;
