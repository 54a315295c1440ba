select shipper_no, shipper_name from {{ source('erp', 'shippers') }}
