select trip_id, fare
from {{ ref('fct_trips') }}
where fare <= {{ env_var('MAX_FARE') }}
