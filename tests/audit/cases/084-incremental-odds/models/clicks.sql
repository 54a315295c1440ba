{{ config(materialized="incremental", unique_key=none, on_schema_change="sync_all_columns") }}
select click_id, url, at from {{ source('web', 'clicks') }}
{% if is_incremental() %} where at >= (select max(at) from {{ this }}) {% endif %}
