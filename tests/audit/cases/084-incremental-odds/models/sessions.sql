{{ config(materialized='table') }}
{# incremental without unique_key was tried here: materialized='incremental' #}
select session_id, min(at) as started from {{ source('web', 'clicks') }} group by 1
