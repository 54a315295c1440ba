INSERT OVERWRITE TABLE lake.clicks PARTITION (dt = '${hiveconf:day}')
SELECT user_id, url
FROM landing.clicks WHERE dt = '${hiveconf:day}';
