{{ config(materialized='incremental', unique_key='email') }}
select email, full_name, source
from {{ ref('stg_leads') }}
