with suppliers as (select * from {{ ref('stg_suppliers') }})

select row_number() over (order by supplier_no) as supplier_sk, *
from suppliers
