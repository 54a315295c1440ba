{{ config(schema=env_var('DBT_SCHEMA', 'dev')) }}
select trip_id, picked_up_at, date(picked_up_at) as picked_up_on, fare
from {{ source('raw', 'trips') }}
