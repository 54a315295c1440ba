SET hive.exec.dynamic.partition = true;
SET hive.exec.dynamic.partition.mode = nonstrict;

INSERT OVERWRITE TABLE lake.clicks PARTITION (dt)
SELECT user_id, url, dt
FROM landing.clicks;
