select * from {{ source('billing', 'topups') }}
