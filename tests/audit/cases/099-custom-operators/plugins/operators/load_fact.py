from airflow.models import BaseOperator
from airflow.providers.postgres.hooks.postgres import PostgresHook


class LoadFactOperator(BaseOperator):
    def __init__(self, conn_id, table, select_sql, **kwargs):
        super().__init__(**kwargs)
        self.conn_id = conn_id
        self.table = table
        self.select_sql = select_sql

    def execute(self, context):
        PostgresHook(self.conn_id).run(f"INSERT INTO {self.table} {self.select_sql}")
