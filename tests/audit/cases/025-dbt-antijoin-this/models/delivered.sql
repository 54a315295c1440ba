{{ config(materialized='incremental') }}
select m.message_id, m.campaign_id, m.delivered_at
from {{ source('esp', 'messages') }} m
{% if is_incremental() %}
where m.message_id not in (select message_id from {{ this }})
{% endif %}
