{{ config(materialized='incremental', incremental_strategy='merge', unique_key='driver_id', file_format='delta') }}
select driver_id, city, rating
from {{ ref('stg_drivers') }}
