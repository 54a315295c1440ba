DELETE FROM ops.job_log WHERE finished_at < CURRENT_DATE - 90;
VACUUM ops.job_log;
