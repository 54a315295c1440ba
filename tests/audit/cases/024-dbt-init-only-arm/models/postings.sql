{{ config(materialized='incremental', unique_key='posting_id') }}
select posting_id, account, amount, booked_on
from {{ source('core', 'postings') }}
{% if not is_incremental() %}
where booked_on >= current_date - 730
{% else %}
where booked_on >= (select max(booked_on) - 3 from {{ this }})
{% endif %}
