CREATE TABLE IF NOT EXISTS ops.load_log (
    log_id BIGSERIAL PRIMARY KEY,
    job TEXT NOT NULL,
    finished_at TIMESTAMPTZ DEFAULT now()
);
