select lead_id, email, full_name, source, owner_id from {{ source('forms', 'leads') }}
