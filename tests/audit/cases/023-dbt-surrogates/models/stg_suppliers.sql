select * from (
    select s.*, row_number() over (partition by supplier_no order by changed_at desc) as rn
    from {{ source('erp', 'suppliers') }} s
) where rn = 1
