"""Airflow, Dagster, Prefect: tasks, order, retries, schedules, effects, streams."""

from __future__ import annotations

import pytest
from tests.auditing.asking import audit, rules, rules_py, spots

HEAD = """from datetime import datetime
from airflow import DAG
from airflow.operators.python import PythonOperator
from airflow.operators.email import EmailOperator
from airflow.providers.postgres.operators.postgres import PostgresOperator
from airflow.providers.snowflake.operators.snowflake import SnowflakeOperator

"""


def dag(*tasks: str, settings: str = 'schedule="@daily", start_date=datetime(2024, 1, 1)') -> str:
    """A DAG file with these lines in its body."""
    body = "\n".join(f"    {line}" for task in tasks for line in task.split("\n"))
    return f'{HEAD}with DAG("d", {settings}) as dag:\n{body}\n'


INSERT = "INSERT INTO t SELECT * FROM s WHERE d = '{{ ds }}'"


def test_a_task_that_appends_is_named_with_its_dag() -> None:
    """The finding belongs to the task, the pipeline of that name."""
    report = audit({"dags/d.py": dag(f'PostgresOperator(task_id="load", sql="{INSERT}")')})
    assert [(one.rule, one.pipeline) for one in report.findings] == [("W01", "d.load")]


@pytest.mark.parametrize(
    "order", ["clear >> load", "load << clear", "clear.set_downstream(load)", "chain(clear, load)"]
)
def test_an_upstream_task_that_truncates_is_a_guard(order: str) -> None:
    """The DAG's order counts as the order of statements does."""
    text = dag(
        'clear = PostgresOperator(task_id="clear", sql="TRUNCATE TABLE t")',
        f'load = PostgresOperator(task_id="load", sql="{INSERT}")',
        order,
    )
    assert rules(text, "dags/d.py") == set()


def test_tasks_without_order_do_not_guard_each_other() -> None:
    """A truncate that may come later guards nothing."""
    text = dag(
        'clear = PostgresOperator(task_id="clear", sql="TRUNCATE TABLE t")',
        f'load = PostgresOperator(task_id="load", sql="{INSERT}")',
    )
    assert rules(text, "dags/d.py") == {"W01"}


def test_a_sql_file_is_guarded_by_the_dag_that_runs_it() -> None:
    """The order of the tasks holds for the files that they run."""
    files = {
        "dags/d.py": dag(
            'a = PostgresOperator(task_id="a", sql="sql/clear.sql")',
            'b = PostgresOperator(task_id="b", sql="sql/load.sql")',
            "a >> b",
        ),
        "dags/sql/clear.sql": "TRUNCATE TABLE t;",
        "dags/sql/load.sql": "INSERT INTO t SELECT * FROM s;",
    }
    assert rules(files) == set()


@pytest.mark.parametrize(
    ("operator", "found"), [("PostgresOperator", set()), ("SnowflakeOperator", {"W02"})]
)
def test_one_call_is_a_transaction_where_the_engine_says_so(operator: str, found: set[str]) -> None:
    """Postgres' hook commits once; Snowflake's operator commits each statement."""
    sql = f"DELETE FROM t WHERE d = '{{{{ ds }}}}'; {INSERT}"
    assert rules(dag(f'{operator}(task_id="x", sql="{sql}")'), "dags/d.py") == found


def test_retries_on_an_unsafe_task() -> None:
    """S01 stands where the retries are said, for a task or for all by default."""
    own = dag(f'PostgresOperator(task_id="x", retries=3, sql="{INSERT}")')
    assert rules(own, "dags/d.py") == {"W01", "S01"}
    shared = dag(
        f'PostgresOperator(task_id="x", sql="{INSERT}")',
        settings='schedule=None, default_args={"retries": 2}',
    )
    assert rules(shared, "dags/d.py") == {"W01", "S01"}


def test_retries_on_a_task_that_runs_an_unsafe_file() -> None:
    """What a file does is the task's own doing."""
    files = {
        "dags/d.py": dag('PostgresOperator(task_id="b", sql="sql/load.sql", retries=2)'),
        "dags/sql/load.sql": "INSERT INTO t SELECT * FROM s;",
    }
    assert rules(files) == {"W01", "S01"}


def test_retries_on_a_safe_task_are_right() -> None:
    """A task that sets its scope may be retried."""
    text = dag('PostgresOperator(task_id="x", retries=3, sql="TRUNCATE TABLE t")')
    assert rules(text, "dags/d.py") == set()


def test_catchup_of_a_task_that_ignores_the_date() -> None:
    """Catching up does the same work again for each day."""
    settings = 'schedule="@daily", start_date=datetime(2024, 1, 1), catchup=True'
    blind = dag('PostgresOperator(task_id="x", sql="CREATE OR REPLACE TABLE t AS SELECT * FROM s")',
                settings=settings)  # fmt: skip
    sql = f"TRUNCATE TABLE t; {INSERT}"
    dated = dag(f'PostgresOperator(task_id="x", sql="{sql}")', settings=settings)
    assert rules(blind, "dags/d.py") == {"S02"}
    assert rules(dated, "dags/d.py") == set()


def test_a_start_date_that_moves() -> None:
    """No past date can be run when the start is now."""
    text = dag("pass", 'PostgresOperator(task_id="x", sql="TRUNCATE TABLE t")',
               settings='schedule="@daily", start_date=datetime.now()')  # fmt: skip
    assert rules(text, "dags/d.py") == {"S02"}


OVERWRITE = "INSERT OVERWRITE TABLE t PARTITION (dt = '{{ ds }}') SELECT a FROM s WHERE "


@pytest.mark.parametrize(
    ("schedule", "where", "found"),
    [
        ("@hourly", "ts >= '{{ data_interval_start }}'", {"W04"}),
        ("*/15 * * * *", "ts >= '{{ ts }}'", {"W04"}),
        ("@hourly", "dt = '{{ ds }}'", set()),
        ("@daily", "dt = '{{ ds }}'", set()),
        ("0 5 * * *", "ts >= '{{ data_interval_start }}'", set()),
    ],
)
def test_overwrite_coarser_than_the_schedule(schedule: str, where: str, found: set[str]) -> None:
    """An hourly run that replaces a day with one hour is W04; one that rebuilds the day is not."""
    sql = f"{OVERWRITE}{where}"
    text = dag(f'HiveOperator(task_id="x", hql="{sql}")', settings=f'schedule="{schedule}"')
    assert rules(text, "dags/d.py") == found


def test_taskflow_passes_order_with_data() -> None:
    """`load(extract())` runs extract first, and both are tasks."""
    text = (
        "from airflow.decorators import dag, task\n@dag(schedule='@daily')\ndef d():\n"
        "    @task\n    def clear():\n        cur.execute('TRUNCATE TABLE t')\n"
        "    @task(retries=2)\n    def load(x):\n        cur.execute('INSERT INTO t SELECT a "
        "FROM s')\n"
        "    load(clear())\nd()\n"
    )
    assert rules(text, "dags/d.py") == set()


def test_the_logical_date_of_dagster_and_prefect() -> None:
    """A partition key is the run's own date; the clock beside it is T04."""
    good = (
        "from dagster import asset\n@asset\ndef a(context):\n    return "
        "read(context.partition_key)\n"
    )
    bad = (
        "from dagster import asset\nfrom datetime import date\nimport pandas as pd\n@asset\n"
        "def a(context):\n    return pd.read_parquet(f'raw/{date.today()}.parquet')\n"
    )
    assert rules_py(good) == set()
    assert rules_py(bad) == {"T04"}


EFFECTS = {
    "mail": ("X01", "server.sendmail(a, b, text)"),
    "slack": ("X02", 'client.chat_postMessage(channel="#a", text=t)'),
    "slack webhook": ("X02", 'requests.post("https://hooks.slack.com/services/x", json=m)'),
    "charge": ("X03", 'requests.post(f"{api}/charges", json=c)'),
    "webhook": ("X03", "requests.post(url, json={'done': True})"),
    "kafka": ("X04", "producer.send('topic', value=v)"),
    "sqs": ("X04", "sqs.send_message(QueueUrl=u, MessageBody=b)"),
}
QUIET_EFFECTS = {
    "in a handler": "try:\n    run()\nexcept Exception:\n    requests.post(h, json=m)\n    raise",
    "on failure": "def on_failure(context):\n    client.chat_postMessage(channel='#a', text=t)",
    "checked": "if not already_sent(day):\n    server.sendmail(a, b, text)",
    "idempotency key": "requests.post(url, json=c, headers={'Idempotency-Key': k})",
    "message key": "producer.send('topic', key=k, value=v)",
    "dedupe id": "sqs.send_message(QueueUrl=u, MessageBody=b, MessageDeduplicationId=d)",
    "a read by post": "rows = requests.post(f'{api}/search', json={'q': 1}).json()",
    "graphql": "r = requests.post(f'{api}/graphql', json={'query': q}).json()",
    "a token": "t = requests.post(auth_url, data={'grant_type': 'x'}).json()",
    "a put": "requests.put(f'{api}/stock/1', json={'qty': 3})",
}


@pytest.mark.parametrize(("rule", "text"), EFFECTS.values(), ids=EFFECTS.keys())
def test_effects_that_each_run_repeats(rule: str, text: str) -> None:
    """Mail, posts, acting calls and messages without a guard are found."""
    assert rules_py(f"import requests\n{text}") == {rule}


@pytest.mark.parametrize("text", QUIET_EFFECTS.values(), ids=QUIET_EFFECTS.keys())
def test_effects_that_are_guarded_or_only_read(text: str) -> None:
    """Alerts, guarded sends, keyed messages and reads by POST are none."""
    assert rules_py(f"import requests\n{text}") == set()


STREAM = 'df = spark.readStream.table("a")\n'


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('df.writeStream.format("delta").start("s3://b")', {"W09"}),
        ('df.writeStream.format("delta").option("checkpointLocation", "c").start("s3://b")', set()),
        ('df.writeStream.format("console").start()', set()),
        (
            (
                'def f(b, i):\n    b.write.mode("append").jdbc(u, "t")\n'
                'df.writeStream.foreachBatch(f).option("checkpointLocation", "c").start()'
            ),
            {"W09"},
        ),
        (
            (
                'def f(b, i):\n    b.write.format("delta").mode("append").option("txnAppId", "a")'
                '.option("txnVersion", i).saveAsTable("t")\n'
                'df.writeStream.foreachBatch(f).option("checkpointLocation", "c").start()'
            ),
            set(),
        ),
    ],
)
def test_streams(text: str, found: set[str]) -> None:
    """A stream needs a checkpoint, and its batch function must bear repetition."""
    assert rules_py(STREAM + text) == found


def test_dynamic_overwrite_in_spark() -> None:
    """The conf, the option and overwritePartitions are the same thing."""
    conf = 'spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")\n'
    assert rules_py(f'{conf}df.write.mode("overwrite").insertInto("t")') == {"W03"}
    assert rules_py('df.writeTo("t").overwritePartitions()') == {"W03"}
    assert rules_py('df.write.mode("overwrite").insertInto("t")') == set()


def test_a_delta_merge_needs_one_row_a_key() -> None:
    """DropDuplicates before the merge reduces its source."""
    merge = 't.alias("t").merge({0}.alias("s"), "t.id = s.id").whenMatchedUpdateAll().execute()'
    head = "from delta.tables import DeltaTable\nt = DeltaTable.forName(spark, 'a')\n"
    assert rules_py(head + merge.format("df")) == {"W05"}
    assert rules_py(head + 'd = df.dropDuplicates(["id"])\n' + merge.format("d")) == set()


def test_the_line_of_a_task_is_found_in_its_file() -> None:
    """Findings of SQL in an operator lie on the statement's own line."""
    text = dag(
        'PostgresOperator(\n    task_id="x",\n    sql="""\n    INSERT INTO t\n    SELECT '
        'a FROM s\n    """,\n)'
    )
    assert spots(text, "dags/d.py") == [("W01", 12)]
