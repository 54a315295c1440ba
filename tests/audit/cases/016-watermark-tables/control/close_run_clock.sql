UPDATE etl.watermark
SET last_loaded_at = GETDATE()
WHERE table_name = 'invoice';
