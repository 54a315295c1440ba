UPDATE etl.watermark
SET last_loaded_at = (SELECT MAX(modified_at) FROM stage.invoice)
WHERE table_name = 'invoice';

UPDATE etl.job_log SET finished_at = GETDATE(), status = 'ok' WHERE job_no = @job_no;
