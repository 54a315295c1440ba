{{ config(materialized='table', post_hook="insert into mart.order_totals select order_day, sum(amount) from {{ this }} group by 1") }}
select order_id, order_day, amount from {{ source('shop', 'orders') }}
