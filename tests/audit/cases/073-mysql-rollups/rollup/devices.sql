INSERT IGNORE INTO device (device_id, model)
SELECT DISTINCT device_id, model FROM raw_event;
