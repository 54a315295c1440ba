{{ config(
    materialized='incremental',
    unique_key='scored_at'
) }}
select lead_id, score, current_timestamp as scored_at
from {{ ref('stg_scores') }}
