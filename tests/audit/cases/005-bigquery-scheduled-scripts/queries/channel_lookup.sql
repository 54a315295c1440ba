CREATE OR REPLACE TABLE `acme.web.channel_lookup` AS
SELECT DISTINCT channel, LOWER(channel) AS slug
FROM `acme.web.sessions`;
