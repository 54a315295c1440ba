"""Clocks, randomness, numbers and the environment: which role makes them a finding."""

from __future__ import annotations

import pytest
from tests.auditing.asking import audit, rules, rules_py, spots

SPARK = "from pyspark.sql import functions as F\nfrom pyspark.sql.window import Window\n"
WRITE = '.write.mode("overwrite").saveAsTable("lake.t")'

FOUND_SQL = {
    "filter": ("T01", "INSERT OVERWRITE TABLE t SELECT * FROM s WHERE d = current_date - 1"),
    "join": ("T01", "CREATE TABLE t AS SELECT * FROM a JOIN b ON a.id = b.id AND b.d > now()"),
    "qualify": ("T01", "CREATE TABLE t AS SELECT * FROM s QUALIFY max(d) OVER () > getdate()"),
    "behind a CTE": (
        "T01",
        (
            "CREATE TABLE t AS WITH p AS (SELECT current_date AS today) "
            "SELECT s.* FROM s CROSS JOIN p WHERE s.d = p.today"
        ),
    ),
    "declared variable": (
        "T01",
        "DECLARE d DATE DEFAULT CURRENT_DATE();\nCREATE TABLE t AS SELECT * FROM s WHERE dt = d;",
    ),
    "partition value": (
        "T02",
        "INSERT OVERWRITE TABLE t PARTITION (dt = current_date()) SELECT a FROM s",
    ),
    "partition column": ("T02", "CREATE TABLE t AS SELECT a, current_date AS snapshot_date FROM s"),
    "stored cursor": ("T03", "UPDATE etl.watermark SET last_loaded_at = now() WHERE job = 'x'"),
    "random order and limit": (
        "R01",
        "CREATE TABLE t AS SELECT * FROM s ORDER BY random() LIMIT 5",
    ),
    "sample": ("R01", "CREATE TABLE t AS SELECT * FROM s TABLESAMPLE BERNOULLI (10)"),
    "uuid key": ("R02", "CREATE TABLE t AS SELECT gen_random_uuid() AS id, a FROM s"),
    "sequence": ("R03", "TRUNCATE TABLE t; INSERT INTO t (id, a) SELECT nextval('q'), a FROM s"),
    "identity of a dimension": ("R03", "CREATE TABLE dim_x (x_key INT IDENTITY(1,1), a INT)"),
    "row number key": (
        "R04",
        "CREATE TABLE t AS SELECT row_number() OVER (ORDER BY name) AS customer_sk, a FROM s",
    ),
}
QUIET_SQL = {
    "audit column": "CREATE TABLE t AS SELECT a, current_timestamp AS loaded_at FROM s",
    "merge stamps": (
        "MERGE INTO t USING (SELECT 1 AS id) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET updated_at = now()"
    ),
    "retention": "DELETE FROM t WHERE ts < now() - interval '90 days'",
    "a view": "CREATE VIEW v AS SELECT * FROM s WHERE d = current_date",
    "a bare select": "SELECT * FROM s WHERE d = current_date",
    "a log": "INSERT INTO job_log VALUES ('x', now())",
    "seeded": "CREATE TABLE t AS SELECT * FROM s TABLESAMPLE BERNOULLI (10) REPEATABLE (1)",
    "dedupe": (
        "CREATE TABLE t AS SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY id "
        "ORDER BY d) AS row_id FROM s) x WHERE row_id = 1"
    ),
    "order only": "CREATE TABLE t AS SELECT * FROM s ORDER BY random()",
    "a comment": "CREATE TABLE t AS SELECT a FROM s -- since now()\nWHERE d = :ds",
    "a text": "CREATE TABLE t AS SELECT 'now()' AS a FROM s WHERE d = :ds",
}


@pytest.mark.parametrize(("rule", "text"), FOUND_SQL.values(), ids=FOUND_SQL.keys())
def test_sql_that_depends_on_the_run(rule: str, text: str) -> None:
    """A hidden input that decides rows, places or keys is found."""
    assert rule in rules(text)


@pytest.mark.parametrize("text", QUIET_SQL.values(), ids=QUIET_SQL.keys())
def test_sql_whose_clock_decides_nothing(text: str) -> None:
    """A clock or random value outside of filter, key and place is none."""
    assert rules(text) == set()


FOUND_PYTHON = {
    "spark filter": ("T01", f'{SPARK}df.filter(F.col("d") == F.current_date()){WRITE}'),
    "spark text filter": ("T01", f'{SPARK}df.where("d >= current_date()"){WRITE}'),
    "spark column": ("T02", f'{SPARK}df.withColumn("ds", F.current_date()){WRITE}'),
    "spark uuid": ("R02", f'{SPARK}df.withColumn("id", F.expr("uuid()")){WRITE}'),
    "spark number": ("R03", f'{SPARK}df.withColumn("id", F.monotonically_increasing_id()){WRITE}'),
    "spark row number": (
        "R04",
        f'{SPARK}df.withColumn("a_key", F.row_number().over(Window.orderBy("x"))){WRITE}',
    ),
    "spark rand": ("R01", f"{SPARK}df.filter(F.rand() < 0.1){WRITE}"),
    "path of today": (
        "T02",
        'from datetime import date\ndf.to_parquet(f"s3://b/{date.today()}/x.parquet")',
    ),
    "file of today": (
        "T04",
        (
            "import pandas as pd\nfrom datetime import date\n"
            'df = pd.read_csv(f"in/{date.today()}.csv")\ndf.to_sql("t", e, if_exists="replace")'
        ),
    ),
    "bound to today": (
        "T04",
        (
            "from datetime import date, timedelta\nday = date.today() - timedelta(days=1)\n"
            'cur.execute("DELETE FROM t WHERE d = %s", [day])\n'
            'cur.execute("INSERT INTO t SELECT * FROM s WHERE d = %s", [day])'
        ),
    ),
    "pasted today": (
        "T04",
        (
            "from datetime import datetime\nd = datetime.now().strftime('%Y-%m-%d')\n"
            "spark.sql(f\"CREATE OR REPLACE TABLE t AS SELECT * FROM s WHERE d = '{d}'\")"
        ),
    ),
    "asked of an API": (
        "T04",
        (
            "import requests, datetime as dt\n"
            "since = dt.datetime.utcnow() - dt.timedelta(hours=1)\n"
            'rows = requests.get(url, params={"since": since}).json()\ndb.t.insert_many(rows)'
        ),
    ),
    "through a helper": (
        "T04",
        (
            "from datetime import date\ndef yesterday():\n    return date.today()\n"
            "spark.sql(f\"CREATE OR REPLACE TABLE t AS SELECT * FROM s WHERE d = '{yesterday()}'\")"
        ),
    ),
    "state file": (
        "T03",
        (
            "import json, datetime\ndf.to_sql('t', e, if_exists='replace')\n"
            "with open('state.json', 'w') as f:\n"
            "    json.dump({'last_run': datetime.datetime.now().isoformat()}, f)"
        ),
    ),
    "pandas uuid": (
        "R02",
        (
            "import uuid, pandas as pd\ndf = pd.read_csv('x.csv')\n"
            "df['id'] = [str(uuid.uuid4()) for _ in range(len(df))]\n"
            "df.to_sql('t', e, if_exists='replace')"
        ),
    ),
    "pandas sample": (
        "R01",
        (
            "import pandas as pd\ndf = pd.read_csv('x.csv').sample(100)\n"
            "df.to_sql('t', e, if_exists='replace')"
        ),
    ),
    "environment": (
        "E01",
        (
            'import os\nspark.sql(f"CREATE OR REPLACE TABLE t AS SELECT * FROM s '
            "WHERE d >= '{os.environ['START_DATE']}'\")"
        ),
    ),
}
QUIET_PYTHON = {
    "timing": "import time\nstart = time.time()\ndf.to_sql('t', e, if_exists='replace')\n"
    "print(time.time() - start)",
    "logging": "from datetime import datetime\nlog.info('at %s', datetime.now())\n"
    "df.to_sql('t', e, if_exists='replace')",
    "audit column": "import pandas as pd\nfrom datetime import datetime\n"
    "df = pd.read_csv('x.csv')\ndf['loaded_at'] = datetime.now()\n"
    "df.to_sql('t', e, if_exists='replace')",
    "default of an argument": "from datetime import date\ndef run(day=None):\n"
    "    day = day or date.today()\n"
    "    spark.sql(f\"CREATE OR REPLACE TABLE t AS SELECT * FROM s WHERE d = '{day}'\")",
    "given or today": "from datetime import date\ndef run(day=None):\n    if day is None:\n"
    "        day = date.today()\n"
    "    spark.sql(f\"CREATE OR REPLACE TABLE t AS SELECT * FROM s WHERE d = '{day}'\")",
    "only shown": f'{SPARK}df.filter(F.col("d") == F.current_date()).show()\ndf{WRITE}',
    "seeded": "import random\nrandom.seed(1)\ndf = pd.read_csv('x.csv').sample(9, random_state=1)\n"
    "df.to_sql('t', e, if_exists='replace')",
    "uuid5": "import uuid, pandas as pd\ndf = pd.read_csv('x.csv')\n"
    "df['id'] = df['k'].map(lambda k: uuid.uuid5(NS, k))\ndf.to_sql('t', e, if_exists='replace')",
    "jitter": "import random, time\ntime.sleep(random.random())\n"
    "df.to_sql('t', e, if_exists='replace')",
    "dropped again": f'{SPARK}df.withColumn("i", F.rand()).orderBy("i").drop("i"){WRITE}',
    "environment of the connection": "import os\nengine = create_engine(os.environ['DB_URL'])\n"
    "df.to_sql('t', engine, if_exists='replace')",
    "a partition key": "@asset\ndef t(context):\n    return read(context.partition_key)",
}


@pytest.mark.parametrize(("rule", "text"), FOUND_PYTHON.values(), ids=FOUND_PYTHON.keys())
def test_python_that_depends_on_the_run(rule: str, text: str) -> None:
    """A hidden input is followed through variables, calls and frames to the data it decides."""
    assert rule in rules_py(text)


@pytest.mark.parametrize("text", QUIET_PYTHON.values(), ids=QUIET_PYTHON.keys())
def test_python_whose_clock_decides_nothing(text: str) -> None:
    """Timing, logs, stamps, defaults of arguments and looks at data are no findings."""
    assert rules_py(text) == set()


def test_the_clock_is_reported_where_it_is_read() -> None:
    """The line is the clock's own, not that of the write."""
    text = (
        "from datetime import date\n\nday = date.today()\n\n\n"
        "spark.sql(f\"CREATE OR REPLACE TABLE t AS SELECT * FROM s WHERE d = '{day}'\")\n"
    )
    assert spots(text, "job.py") == [("T04", 3)]


def test_an_audit_stamp_is_a_note() -> None:
    """A clock that only stamps rows is told as a note, since it breaks checksums."""
    report = audit({"a.sql": "CREATE TABLE t AS SELECT a, now() AS loaded_at FROM s"})
    assert [(one.rule, one.severity.value) for one in report.findings] == [("T05", "note")]


KEYS = {
    "source not reduced": ("W05", "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN DELETE"),
    "distinct over all columns": (
        "W05",
        (
            "MERGE INTO t USING (SELECT DISTINCT id, name FROM s) s ON t.id = s.id "
            "WHEN MATCHED THEN DELETE"
        ),
    ),
    "mutable key": (
        "W06",
        (
            "MERGE INTO t USING (SELECT email, max(a) AS a FROM s GROUP BY email) s "
            "ON t.email = s.email WHEN MATCHED THEN DELETE"
        ),
    ),
    "no key": (
        "W06",
        "MERGE INTO t USING (SELECT max(a) AS a FROM s) s ON 1 = 1 WHEN MATCHED THEN DELETE",
    ),
    "conflict on a name": ("W06", "INSERT INTO t SELECT * FROM s ON CONFLICT (email) DO NOTHING"),
    "counter": ("W07", "UPDATE stock SET qty = qty - s.n FROM s WHERE s.sku = stock.sku"),
    "counter in an upsert": (
        "W07",
        "INSERT INTO t (id, n) SELECT id, 1 FROM s ON CONFLICT (id) DO UPDATE SET n = t.n + 1",
    ),
    "counter in a merge": (
        "W07",
        (
            "MERGE INTO t USING (SELECT id, sum(n) AS n FROM s GROUP BY id) s ON t.id = s.id "
            "WHEN MATCHED THEN UPDATE SET t.n = t.n + s.n"
        ),
    ),
}
GOOD_KEYS = {
    "grouped": (
        "MERGE INTO t USING (SELECT id, max(a) AS a FROM s GROUP BY id) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET a = s.a"
    ),
    "qualify": (
        "MERGE INTO t USING (SELECT * FROM s QUALIFY row_number() OVER (PARTITION BY id "
        "ORDER BY v DESC) = 1) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET a = s.a"
    ),
    "first of each": (
        "MERGE INTO t USING (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY id "
        "ORDER BY v) rn FROM s) x WHERE rn = 1) s ON t.id = s.id WHEN MATCHED THEN DELETE"
    ),
    "reduced before": (
        "CREATE TEMP TABLE u AS SELECT id, max(a) AS a FROM s GROUP BY id; "
        "MERGE INTO t USING u ON t.id = u.id WHEN MATCHED THEN UPDATE SET a = u.a"
    ),
    "atomic replace": (
        "MERGE INTO t USING s ON FALSE WHEN NOT MATCHED BY SOURCE AND t.d = @d THEN DELETE "
        "WHEN NOT MATCHED THEN INSERT ROW"
    ),
    "set, not count": "UPDATE stock SET qty = s.qty FROM s WHERE s.sku = stock.sku",
    "state marker": ("UPDATE t SET n = n + 1, applied = TRUE WHERE applied = FALSE"),
    "attempts": "UPDATE jobs SET attempts = attempts + 1 WHERE id IN (SELECT id FROM s)",
}


@pytest.mark.parametrize(("rule", "text"), KEYS.values(), ids=KEYS.keys())
def test_keys_and_counters_that_do_not_hold(rule: str, text: str) -> None:
    """Merges on loose keys or sources, and counters, are found."""
    assert rule in rules(text)


@pytest.mark.parametrize("text", GOOD_KEYS.values(), ids=GOOD_KEYS.keys())
def test_keys_and_updates_that_hold(text: str) -> None:
    """A reduced source, a stable key, a set value or a marker is no finding."""
    assert rules(text) == set()


def test_a_clock_stays_in_the_function_that_reads_it() -> None:
    """Another function's `day` is another day, though the text that it is pasted into is alike."""
    text = """
    from datetime import datetime
    from airflow import DAG
    from airflow.operators.python import PythonOperator
    from airflow.providers.postgres.hooks.postgres import PostgresHook

    def guess():
        day = datetime.now().date()
        PostgresHook("w").run(f"INSERT INTO mart.a SELECT * FROM raw.a WHERE day = '{day}'")

    def told(ds):
        day = ds
        PostgresHook("w").run(f"UPDATE mart.b SET seen = 1 WHERE day = '{day}'")

    with DAG("d", schedule="@daily") as dag:
        PythonOperator(task_id="guess", python_callable=guess)
        PythonOperator(task_id="told", python_callable=told)
    """
    report = audit({"dags/d.py": text})
    verdicts = {one.name: one.verdict.value for one in report.pipelines}
    assert verdicts == {"d.guess": "unsafe", "d.told": "safe"}


def test_a_clock_is_named_as_it_is_written() -> None:
    """Whoever wrote `GETDATE()` looks for that word, not for another dialect's."""
    text = "INSERT OVERWRITE TABLE t SELECT * FROM s WHERE d > dateadd(day, -1, {})"
    (one,) = audit({"etl/load.sql": text.format("GETDATE()")}).findings
    assert one.message.startswith("GETDATE() decides")
