select ad_id, title, online_on
from {{ ref('stg_ads') }}
where online_on >= current_date - interval 3 month
