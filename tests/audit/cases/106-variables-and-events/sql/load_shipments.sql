CREATE OR REPLACE PROCEDURE mart.load_shipments()
AS $$
DECLARE
    newest TIMESTAMP;
BEGIN
    SELECT COALESCE(MAX(shipped_at), '2000-01-01'::timestamp)
    INTO newest
    FROM mart.shipments;

    INSERT INTO mart.shipments (shipment_id, shipped_at)
    SELECT s.shipment_id, s.shipped_at
    FROM stage.shipments s
    WHERE s.shipped_at > newest;

    INSERT INTO mart.parcels (parcel_id, shipped_at)
    SELECT p.parcel_id, p.shipped_at
    FROM stage.parcels p
    WHERE p.shipped_at > newest;
END;
$$ LANGUAGE plpgsql;
