from airflow.models import BaseOperator
from airflow.providers.postgres.hooks.postgres import PostgresHook


class StageOperator(BaseOperator):
    template_fields = ("s3_key",)
    copy_sql = """
        COPY {} FROM '{}' IAM_ROLE '{}' FORMAT AS JSON 'auto'
    """

    def __init__(self, table, s3_key, role, **kwargs):
        super().__init__(**kwargs)
        self.table = table
        self.s3_key = s3_key
        self.role = role

    def execute(self, context):
        hook = PostgresHook("redshift")
        hook.run("DELETE FROM {}".format(self.table))
        hook.run(StageOperator.copy_sql.format(self.table, self.s3_key, self.role))
