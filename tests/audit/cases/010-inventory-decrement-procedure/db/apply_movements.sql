CREATE OR REPLACE PROCEDURE apply_movements(p_day date)
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE stock_level AS l
    SET qty = l.qty - m.qty
    FROM (SELECT sku, SUM(qty) AS qty FROM movement WHERE day = p_day GROUP BY sku) AS m
    WHERE l.sku = m.sku;
END;
$$;
