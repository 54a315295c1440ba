select trip_id, picked_up_at, fare
from {{ ref('fct_trips') }}
where picked_up_on >= current_date - interval '{{ env_var("DAYS_BACK", "30") }}' day
