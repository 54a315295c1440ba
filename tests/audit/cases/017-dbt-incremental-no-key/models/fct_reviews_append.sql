{{ config(materialized='incremental', incremental_strategy='append') }}
select review_id, listing_id, reviewed_on
from {{ ref('stg_reviews') }}
{% if is_incremental() %}
where reviewed_on >= (select max(reviewed_on) from {{ this }})
{% endif %}
