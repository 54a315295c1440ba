{{ config(materialized='incremental') }}
select o.open_id, o.message_id, o.opened_at
from {{ source('esp', 'opens') }} o
{% if is_incremental() %}
left join {{ this }} t on t.open_id = o.open_id
where t.open_id is null
{% endif %}
