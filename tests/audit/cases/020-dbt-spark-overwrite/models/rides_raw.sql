{{ config(materialized='incremental', file_format='delta') }}
select * from {{ source('landing', 'rides') }}
{% if is_incremental() %}
where ride_day = '{{ var("ds") }}'
{% endif %}
