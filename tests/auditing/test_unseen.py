"""What is not in view is not called safe, and what is in another file is looked up."""

from __future__ import annotations

import pytest
from tests.auditing.asking import audit, rules, spots

AIRFLOW = """
from airflow import DAG
from airflow.operators.bash import BashOperator
from airflow.operators.empty import EmptyOperator
from airflow.operators.python import PythonOperator
from shop.loading import load_orders

def here():
    return 1

with DAG("d", schedule="@daily") as dag:
    {task}
"""


def verdicts(files: dict[str, str]) -> dict[str, str]:
    """Each pipeline's verdict by its name."""
    return {one.name: one.verdict.value for one in audit(files).pipelines}


@pytest.mark.parametrize(
    ("task", "verdict"),
    [
        ('BashOperator(task_id="t", bash_command="python load.py")', "unknown"),
        ('BashOperator(task_id="t", bash_command="echo done && sleep 5")', "safe"),
        ('BashOperator(task_id="t", bash_command="date >> /data/runs.txt")', "unknown"),
        ('PythonOperator(task_id="t", python_callable=load_orders)', "unknown"),
        ('PythonOperator(task_id="t", python_callable=here)', "safe"),
        ('EmptyOperator(task_id="t")', "safe"),
        ('KubernetesPodOperator(task_id="t", image="loader")', "unknown"),
        ('PostgresOperator(task_id="t", sql="sql/missing.sql")', "unknown"),
    ],
)
def test_a_task_that_runs_what_is_not_in_view_is_unknown(task: str, verdict: str) -> None:
    """A command, an image or an imported function may do anything."""
    assert verdicts({"dags/d.py": AIRFLOW.replace("{task}", task)}) == {"d.t": verdict}


def test_a_task_that_leaves_its_work_to_a_module_of_the_repository_is_unknown() -> None:
    """The other module is judged by itself; whether its function is safe here is not known."""
    task = """
    from airflow.decorators import task
    from shop.loading import load_orders
    import pandas as pd

    @task
    def load():
        frame = pd.read_csv("orders.csv")
        load_orders(frame)
    """
    assert verdicts({"dags/d.py": task})["load"] == "safe"
    known = {"dags/d.py": task, "shop/loading.py": "def load_orders(frame):\n    return frame\n"}
    assert verdicts(known)["load"] == "unknown"


def test_the_name_of_a_table_is_followed_into_the_module_that_it_is_imported_from() -> None:
    """`from settings import TARGET` is as good as the text that stands there."""
    job = """
    from settings import TARGET
    import settings
    def load(cur):
        cur.execute(f"INSERT INTO {TARGET} SELECT * FROM raw.orders")
        cur.execute(f"INSERT INTO {settings.SCRATCH} SELECT * FROM raw.orders")
    """
    settings = 'TARGET = "mart.orders"\nSCRATCH = "tmp_orders"\n'
    report = audit({"jobs/load.py": job, "jobs/settings.py": settings})
    assert [(one.rule, one.line) for one in report.findings] == [("W01", 5)]
    assert "mart.orders" in report.findings[0].message


def test_a_nearer_module_of_the_same_name_is_the_one_meant() -> None:
    """Two teams with a `settings.py` each do not name each other's tables."""
    job = """
    from settings import TARGET
    def load(cur):
        cur.execute(f"INSERT INTO {TARGET} SELECT * FROM raw.orders")
    """
    report = audit(
        {
            "a/load.py": job,
            "a/settings.py": 'TARGET = "mart.a"\n',
            "b/settings.py": 'TARGET = "mart.b"\n',
        }
    )
    assert "mart.a" in report.findings[0].message


def test_retries_of_a_merge_with_duplicates_are_unsafe() -> None:
    """A retry of a merge whose source holds a key twice may leave the other row."""
    text = """
    from airflow import DAG
    with DAG("d", schedule="@daily") as dag:
        SnowflakeOperator(task_id="t", retries=2, sql='''
            MERGE INTO dim.c t USING raw.c s ON t.id = s.id
            WHEN MATCHED THEN UPDATE SET city = s.city
            WHEN NOT MATCHED THEN INSERT (id, city) VALUES (s.id, s.city)''')
    """
    assert rules({"dags/d.py": text}) == {"W05", "S01"}


def test_variables_of_psql_are_read() -> None:
    """`:'ds'` and `:"table"` are psql's own quotes around a variable."""
    text = """
    BEGIN;
    DELETE FROM mart.daily WHERE day = :'ds';
    INSERT INTO mart.daily SELECT * FROM raw.orders WHERE day = :'ds'::date;
    COMMIT;
    INSERT INTO :"target" SELECT * FROM raw.orders;
    """
    report = audit({"etl/load.sql": text})
    assert report.unparsed == ()
    assert [(one.rule, one.line) for one in report.findings] == [("W01", 6)]


def test_a_table_emptied_for_one_window_is_found() -> None:
    """The delete takes every day, the insert brings one back."""
    text = """
    DELETE FROM mart.daily;
    INSERT INTO mart.daily SELECT * FROM raw.orders WHERE day = '{{ ds }}';
    """
    assert spots(text) == [("W04", 2)]


@pytest.mark.parametrize(
    "text",
    [
        "DELETE FROM stg.daily; INSERT INTO stg.daily SELECT * FROM r WHERE day = '{{ ds }}';",
        "DELETE FROM mart.daily; INSERT INTO mart.daily SELECT * FROM r WHERE day >= '2020-01-01';",
        "DELETE FROM mart.daily; INSERT INTO mart.daily SELECT * FROM raw.orders;",
    ],
)
def test_a_table_that_is_emptied_and_loaded_whole_is_not(text: str) -> None:
    """A staging table holds one run, and a fixed date is no window."""
    assert spots(text) == []


def test_a_task_of_setpoint_is_a_pipeline_that_sets_its_window() -> None:
    """Its own tasks count, and they are safe."""
    text = """
    from setpoint import Source, merge, overwrite, task

    @task(target="lake.shop.daily", grain="day", write=overwrite(by="day"), sources={})
    def daily(orders, window):
        return orders.groupBy("day").count()
    """
    (pipeline,) = audit({"tasks/daily.py": text}).pipelines
    assert (pipeline.kind, pipeline.verdict.value) == ("setpoint-task", "safe")
    assert pipeline.writes == ("lake.shop.daily",)


def test_a_clock_in_a_task_of_setpoint_is_found() -> None:
    """A window that is set twice must be set to the same rows."""
    header = "/*\ntarget: lake.shop.daily\ngrain: day\nwrite:\n  overwrite: {by: day}\n*/\n"
    select = "SELECT day, sum(x) AS x FROM orders"
    clean = audit({"tasks/daily.sql": f"{header}{select} WHERE day >= :window_start GROUP BY day"})
    (pipeline,) = clean.pipelines
    assert (pipeline.kind, pipeline.verdict.value) == ("setpoint-task", "safe")
    assert pipeline.reads == ("orders",)
    hidden = f"{header}{select} WHERE day >= current_date() - 7 GROUP BY day"
    assert spots({"tasks/daily.sql": hidden}) == [("T01", 7)]


def test_names_between_dollars_are_templates() -> None:
    """`$SCHEMA$.orders` is filled in before it runs; the statements around it are read."""
    text = """
    BEGIN;
    DELETE FROM $MART$.daily WHERE day = '$RUN_DATE$';
    INSERT INTO $MART$.daily SELECT * FROM $RAW$.orders WHERE day = '$RUN_DATE$';
    COMMIT;
    INSERT INTO $MART$.totals SELECT sum(amount) FROM $RAW$.orders;
    """
    report = audit({"etl/load.sql": text})
    assert report.unparsed == ()
    assert [(one.rule, one.line) for one in report.findings] == [("W01", 6)]


def test_a_body_between_dollars_is_no_template() -> None:
    """Postgres quotes the body of a function so; what stands in it is read."""
    text = """
    CREATE FUNCTION load() RETURNS void AS $SQL$ INSERT INTO mart.totals
        SELECT sum(amount) FROM raw.orders $SQL$ LANGUAGE sql;
    """
    report = audit({"etl/load.sql": text})
    assert report.unparsed == ()
    assert [(one.rule, one.line) for one in report.findings] == [("W01", 2)]


def test_a_snapshot_of_a_table_is_read() -> None:
    """BigQuery's snapshots are made once; what is appended to one that may be there is not."""
    text = """
    CREATE SNAPSHOT TABLE `shop.keep.orders_2024` CLONE `shop.mart.orders`
    OPTIONS (expiration_timestamp = TIMESTAMP '2030-01-01');
    CREATE SNAPSHOT TABLE IF NOT EXISTS keep.items CLONE mart.items FOR SYSTEM_TIME AS OF @moment;
    INSERT INTO `shop.mart.totals` SELECT sum(amount) FROM `shop.keep.orders_2024`;
    """
    report = audit({"etl/load.sql": text})
    assert report.unparsed == ()
    assert [(one.rule, one.line) for one in report.findings] == [("W01", 5)]
    (pipeline,) = report.pipelines
    assert {"shop.mart.orders", "mart.items"} <= set(pipeline.reads)
