select ad_id from {{ ref('ads_history') }}
where online_on > current_date
