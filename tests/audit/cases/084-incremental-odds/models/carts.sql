{{ config(materialized='incremental', unique_key='cart_id', incremental_strategy=var('strategy')) }}
select cart_id, total from {{ source('web', 'carts') }}
