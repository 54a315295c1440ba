{{ config(
    materialized='incremental',
    incremental_strategy='microbatch',
    event_time='read_at',
    batch_size='day',
    begin='2024-01-01',
    partition_by={'field': 'read_at', 'data_type': 'timestamp', 'granularity': 'day'}
) }}
select sensor_id, read_at, value from {{ ref('stg_readings') }}
