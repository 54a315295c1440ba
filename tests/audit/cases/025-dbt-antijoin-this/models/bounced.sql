{{ config(materialized='incremental') }}
select b.bounce_id, b.message_id
from {{ source('esp', 'bounces') }} b
{% if is_incremental() %}
where b.message_id not in (select message_id from {{ ref('opened') }})
{% endif %}
