BEGIN;
UPDATE core.dim_plan AS d
SET valid_to = s.changed_at
FROM stage.plan_change AS s
WHERE d.plan_id = s.plan_id AND d.valid_to IS NULL AND s.changed_at > d.valid_from;

INSERT INTO core.dim_plan (plan_id, price, valid_from, valid_to)
SELECT s.plan_id, s.price, s.changed_at, NULL
FROM stage.plan_change AS s
WHERE NOT EXISTS (
    SELECT 1 FROM core.dim_plan AS d WHERE d.plan_id = s.plan_id AND d.valid_from >= s.changed_at
);
COMMIT;
