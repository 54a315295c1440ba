{% snapshot leads_snapshot %}
{{ config(target_schema='snapshots', unique_key='lead_id', strategy='timestamp', updated_at='changed_at') }}
select * from {{ source('forms', 'leads') }}
{% endsnapshot %}
