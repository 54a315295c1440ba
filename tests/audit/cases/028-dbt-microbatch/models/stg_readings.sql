select sensor_id, read_at, value from {{ source('iot', 'readings') }}
