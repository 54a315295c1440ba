select topup_id, msisdn, amount, paid_at
from {{ ref('stg_topups') }}
{% if is_incremental() %}
where paid_at >= (select max(paid_at) from {{ this }})
{% endif %}
