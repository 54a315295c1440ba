INSERT OVERWRITE TABLE lake.user_snapshot PARTITION (snap_date = current_date())
SELECT user_id, plan
FROM lake.users;
