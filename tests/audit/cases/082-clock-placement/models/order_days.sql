{{ config(materialized='incremental', unique_key='order_id', partition_by={'field': 'order_day', 'data_type': 'date'}) }}
select order_id, order_day, amount from {{ ref('orders') }}
