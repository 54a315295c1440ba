{{ config(materialized='table') }}

with dated as (
    select o.order_id, current_timestamp() as asked_at, o.ordered_at
    from {{ ref('stg_orders') }} o
)

select * from dated
where ordered_at > asked_at - interval '7 days'
