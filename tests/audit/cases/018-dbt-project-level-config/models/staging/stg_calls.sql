select * from {{ source('switch', 'calls') }}
