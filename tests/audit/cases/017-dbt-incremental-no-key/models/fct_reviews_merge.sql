{{ config(materialized='incremental', unique_key=['listing_id', 'review_id']) }}
select review_id, listing_id, score
from {{ ref('stg_reviews') }}
{% if is_incremental() %}
where reviewed_on > (select dateadd(day, -7, max(reviewed_on)) from {{ this }})
{% endif %}
