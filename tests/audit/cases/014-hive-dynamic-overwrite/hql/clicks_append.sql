INSERT INTO TABLE lake.clicks_all PARTITION (dt = '${hiveconf:day}')
SELECT user_id, url
FROM landing.clicks WHERE dt = '${hiveconf:day}';
