select view_id, url, at
from {{ source('web', 'views') }}
{% if is_incremental() %} where at >= (select max(at) from {{ this }}) {% endif %}
