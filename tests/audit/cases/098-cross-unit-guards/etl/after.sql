INSERT INTO mart.alerts (alert_id, raised_at)
SELECT alert_id, raised_at FROM stage.alerts;
DELETE FROM mart.alerts WHERE raised_at < '2020-01-01';
