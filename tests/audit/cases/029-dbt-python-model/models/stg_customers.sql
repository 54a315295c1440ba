select customer_id, country from {{ source('crm', 'customers') }}
