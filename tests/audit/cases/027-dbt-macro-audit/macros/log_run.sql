{% macro log_run() %}
insert into meta.dbt_run_log (invocation_id, finished_at)
values ('{{ invocation_id }}', current_timestamp)
{% endmacro %}
