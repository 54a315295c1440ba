select * from {{ source('board', 'ads') }}
