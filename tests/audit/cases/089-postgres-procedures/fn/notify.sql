INSERT INTO rpt.mail_queue (mail_id, body)
SELECT gen_random_uuid(), body
FROM rpt.mail_draft;
