select * from {{ source('board', 'prices') }}
