{% set days = ["date '" ~ var('run_day') ~ "'"] %}
{{ config(
    materialized='incremental',
    incremental_strategy='insert_overwrite',
    partition_by={'field': 'created_on', 'data_type': 'date'},
    partitions=days
) }}
select job_id, user_name, created_on
from {{ ref('stg_jobs') }}
where created_on = date '{{ var("run_day") }}'
