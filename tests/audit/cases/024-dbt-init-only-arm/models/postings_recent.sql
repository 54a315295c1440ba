{{ config(materialized='incremental', unique_key='posting_id') }}
select posting_id, account, amount, booked_on
from {{ source('core', 'postings') }}
{% if is_incremental() %}
where booked_on >= current_date - 3
{% endif %}
