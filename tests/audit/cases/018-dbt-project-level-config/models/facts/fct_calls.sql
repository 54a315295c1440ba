{{ config(unique_key='call_id') }}
select call_id, caller, started_at, seconds
from {{ ref('stg_calls') }}
{% if is_incremental() %}
where started_at >= (select max(started_at) from {{ this }})
{% endif %}
