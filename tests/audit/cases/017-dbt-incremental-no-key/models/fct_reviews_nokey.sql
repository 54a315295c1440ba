{{
    config(
        materialized = 'incremental',
        on_schema_change = 'append_new_columns'
    )
}}
select review_id, listing_id, score
from {{ ref('stg_reviews') }}
{% if is_incremental() %}
where loaded_seq >= (select max(loaded_seq) from {{ this }})
{% endif %}
