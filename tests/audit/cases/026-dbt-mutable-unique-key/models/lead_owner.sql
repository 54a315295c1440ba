{{ config(materialized='incremental', unique_key='lead_id') }}
select lead_id, owner_id from {{ ref('stg_leads') }}
