select * from {{ source('landing', 'rides') }}
