select region_code, region_name from {{ source('erp', 'regions') }}
