INSERT INTO star.category (category_id, category_name)
SELECT
    uuid_generate_v4(),
    INITCAP(name)
FROM raw.category_names;
