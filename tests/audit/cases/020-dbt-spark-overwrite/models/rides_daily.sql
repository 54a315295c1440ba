{{ config(materialized='incremental', incremental_strategy='insert_overwrite', partition_by=['ride_day'], file_format='parquet') }}
select ride_id, city, fare, ride_day
from {{ ref('stg_rides') }}
{% if is_incremental() %}
where ride_day = '{{ var("ds") }}'
{% endif %}
