"""The nightly batch as the scheduler has it: everything once a day, three retries each."""

from datetime import datetime, timedelta

from airflow import DAG
from airflow.operators.bash import BashOperator
from airflow.providers.common.sql.operators.sql import SQLExecuteQueryOperator

with DAG(
    "nightly",
    start_date=datetime(2026, 4, 1),
    schedule="@daily",
    template_searchpath=["examples/shop/before"],
    default_args={"retries": 3, "retry_delay": timedelta(minutes=5)},
) as dag:
    orders = BashOperator(
        task_id="orders_copy",
        bash_command="python orders_copy.py {{ ds }}",
    )
    summary = SQLExecuteQueryOperator(
        task_id="daily_customer_summary",
        conn_id="shop",
        sql="daily_customer_summary.sql",
    )
    dimension = SQLExecuteQueryOperator(
        task_id="dim_customer",
        conn_id="shop",
        sql="dim_customer.sql",
    )
    payments = BashOperator(
        task_id="fct_payments",
        bash_command="python fct_payments.py",
    )
    users = BashOperator(
        task_id="daily_active_users",
        bash_command="python daily_active_users.py {{ ds }}",
    )
    revenue = BashOperator(
        task_id="revenue_daily",
        bash_command="python revenue_daily.py {{ ds }}",
    )
    inventory = BashOperator(
        task_id="daily_inventory_adjustments",
        bash_command="python daily_inventory_adjustments.py {{ ds }}",
    )
    events = BashOperator(
        task_id="events",
        bash_command="python events_rewrite.py {{ ds }}",
    )
    publisher = BashOperator(
        task_id="event_publisher",
        bash_command="python event_publisher.py {{ ds }}",
    )
    orders >> [summary, revenue]
    dimension >> payments
    events >> [users, publisher]
