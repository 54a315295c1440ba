{{ config(
    materialized='incremental',
    incremental_strategy='insert_overwrite',
    partition_by={'field': 'created_on', 'data_type': 'date'}
) }}

select job_id, user_name, created_on
from {{ ref('stg_jobs') }}
{% if is_incremental() %}
where created_on >= date_sub(_dbt_max_partition, interval 1 day)
{% endif %}
