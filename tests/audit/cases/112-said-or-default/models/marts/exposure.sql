{{ config(materialized='incremental', unique_key='exposure_key', incremental_strategy='merge') }}

with joined as (
    select
        c.customer_id || '-' || c.extract_date as exposure_key,
        c.customer_id,
        current_timestamp() as loaded_ts
    from {{ ref('stg_customers') }} c
    {% if is_incremental() %}
    where c.processed_at > (select max(loaded_ts) from {{ this }})
    {% endif %}
)

select * from joined
