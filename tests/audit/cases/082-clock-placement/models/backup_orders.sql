{{ config(materialized='table', alias='orders_' ~ run_started_at.strftime('%Y%m%d')) }}
select * from {{ ref('orders') }}
