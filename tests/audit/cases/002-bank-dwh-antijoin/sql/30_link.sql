INSERT INTO dwh.link_visit (hk_visit, hk_card, hk_terminal)
SELECT v.hk_visit, v.hk_card, v.hk_terminal
FROM stg.visit v
WHERE NOT EXISTS (
    SELECT 1 FROM dwh.link_visit l WHERE l.hk_visit = v.hk_visit
);

INSERT INTO dwh.link_visit_audit (hk_visit, hk_card)
SELECT v.hk_visit, v.hk_card
FROM stg.visit v
WHERE NOT EXISTS (SELECT 1 FROM stg.blocked_card b WHERE b.hk_card = v.hk_card);
