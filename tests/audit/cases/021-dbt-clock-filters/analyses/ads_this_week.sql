select count(*) from {{ ref('ads_history') }}
where online_on >= current_date - 7
