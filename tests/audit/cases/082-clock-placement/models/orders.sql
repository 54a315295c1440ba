{{ config(materialized='table') }}
select order_id, amount, current_timestamp as dbt_loaded_at
from {{ source('shop', 'orders') }}
