select job_id, user_name, created_on from {{ source('region', 'jobs') }}
