select sms_id, sender, sent_at
from {{ ref('stg_sms') }}
{% if is_incremental() %}
where sent_at >= (select max(sent_at) from {{ this }})
{% endif %}
