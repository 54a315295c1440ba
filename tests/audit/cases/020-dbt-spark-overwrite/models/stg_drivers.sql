select * from {{ source('landing', 'drivers') }}
