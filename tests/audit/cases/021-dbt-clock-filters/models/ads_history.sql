select ad_id, title, online_on,
       current_timestamp as built_at
from {{ ref('stg_ads') }}
