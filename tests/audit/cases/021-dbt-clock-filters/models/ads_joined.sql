{{ config(materialized='table') }}
select a.ad_id, p.price
from {{ ref('stg_ads') }} a
join {{ ref('stg_prices') }} p
  on p.ad_id = a.ad_id
 and p.valid_from <= current_timestamp and p.valid_to > current_timestamp
