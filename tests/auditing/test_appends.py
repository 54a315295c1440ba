"""W01 and W02: what adds rows again, and what only looks like it."""

from __future__ import annotations

import pytest
from tests.auditing.asking import rules, rules_py, spots

DOUBLED_SQL = {
    "plain": "INSERT INTO mart.sales SELECT * FROM stg.sales",
    "create if not exists clears nothing": (
        "CREATE TABLE IF NOT EXISTS t (a int); INSERT INTO t SELECT a FROM s"
    ),
    "a delete of another table": "DELETE FROM u WHERE d = 1; INSERT INTO t SELECT * FROM s",
    "a retention delete clears no scope": (
        "DELETE FROM t WHERE ts < now() - interval '90 days'; INSERT INTO t SELECT a FROM s"
    ),
    "not exists on another table": (
        "INSERT INTO t SELECT * FROM s WHERE NOT EXISTS (SELECT 1 FROM blocked b WHERE b.id = s.id)"
    ),
    "hive partition without overwrite": "INSERT INTO t PARTITION (dt = '1') SELECT a FROM s",
    "redshift copy": "COPY t FROM 's3://bucket/x' IAM_ROLE 'r' CSV",
    "bigquery load": "LOAD DATA INTO d.t FROM FILES (format = 'CSV', uris = ['gs://b/x'])",
    "mysql load": "LOAD DATA LOCAL INFILE 'x.csv' INTO TABLE t FIELDS TERMINATED BY ','",
    "snowflake copy that forgets its history": "COPY INTO t FROM @stage FORCE = TRUE",
    "inside a procedure": (
        "CREATE PROCEDURE p() LANGUAGE plpgsql AS $$ BEGIN INSERT INTO t SELECT * FROM s; END $$;"
    ),
    "without semicolons": "DECLARE @x INT\nINSERT INTO dbo.t\nSELECT a FROM dbo.s\nPRINT 'done'",
    "a CTE in front": "WITH q AS (SELECT * FROM s)\nINSERT INTO t\nSELECT * FROM q",
    "in a snowflake task": "CREATE TASK k WAREHOUSE = w AS\nINSERT INTO t SELECT a FROM s;",
}
GUARDED_SQL = {
    "anti-join": "INSERT INTO t SELECT s.* FROM s LEFT JOIN t ON t.id = s.id WHERE t.id IS NULL",
    "not exists": (
        "INSERT INTO t SELECT * FROM s WHERE NOT EXISTS (SELECT 1 FROM t x WHERE x.id = s.id)"
    ),
    "not in": "INSERT INTO a.t SELECT * FROM s WHERE id NOT IN (SELECT id FROM a.t)",
    "anti-join through a CTE": (
        "INSERT INTO t WITH known AS (SELECT id FROM t) "
        "SELECT s.* FROM s LEFT JOIN known k ON k.id = s.id WHERE k.id IS NULL"
    ),
    "except": "INSERT INTO t SELECT id FROM s EXCEPT SELECT id FROM t",
    "own high-water mark": "INSERT INTO t SELECT * FROM s WHERE id > (SELECT max(id) FROM t)",
    "on conflict": "INSERT INTO t SELECT * FROM s ON CONFLICT (id) DO NOTHING",
    "on duplicate key": "INSERT INTO t SELECT * FROM s ON DUPLICATE KEY UPDATE v = VALUES(v)",
    "insert ignore": "INSERT IGNORE INTO t SELECT * FROM s",
    "replace into": "REPLACE INTO t SELECT * FROM s",
    "insert overwrite": "INSERT OVERWRITE TABLE t SELECT * FROM s",
    "truncated before": "TRUNCATE TABLE t; INSERT INTO t SELECT * FROM s",
    "dropped and made before": (
        "DROP TABLE IF EXISTS t; CREATE TABLE t (a int); INSERT INTO t SELECT a FROM s"
    ),
    "made here": "CREATE OR REPLACE TABLE t (a int); INSERT INTO t SELECT a FROM s",
    "duplicates removed after": (
        "INSERT INTO t SELECT * FROM s;\n"
        "WITH d AS (SELECT *, row_number() OVER (PARTITION BY id ORDER BY x) AS rn FROM t)\n"
        "DELETE FROM d WHERE rn > 1;"
    ),
    "temporary by name": "INSERT INTO #stage SELECT * FROM s",
    "temporary by creation": (
        "CREATE TEMP TABLE w AS SELECT 1 AS a; INSERT INTO w SELECT a FROM s"
    ),
    "log table": "INSERT INTO etl_log SELECT 'x', count(*) FROM s",
    "seed of literals": "INSERT INTO country VALUES ('de', 'Germany'), ('fr', 'France')",
    "if not exists": (
        "IF NOT EXISTS (SELECT 1 FROM dbo.t)\nBEGIN\nINSERT INTO dbo.t SELECT a FROM dbo.s\nEND"
    ),
    "copy into remembers its files": "COPY INTO t FROM @stage FILE_FORMAT = (TYPE = CSV)",
    "a change stream": "INSERT INTO t SELECT * FROM raw.orders_stream",
}


@pytest.mark.parametrize("text", DOUBLED_SQL.values(), ids=DOUBLED_SQL.keys())
def test_sql_that_adds_rows_again(text: str) -> None:
    """An insert that nothing guards is W01."""
    assert "W01" in rules(text)


@pytest.mark.parametrize("text", GUARDED_SQL.values(), ids=GUARDED_SQL.keys())
def test_sql_that_only_looks_like_an_append(text: str) -> None:
    """A guard in the statement or before it makes the insert harmless."""
    assert rules(text) == set()


TORN = "DELETE FROM t WHERE d = :ds;\nINSERT INTO t SELECT * FROM s WHERE d = :ds;\n"


def test_delete_and_insert_outside_a_transaction_is_torn() -> None:
    """Each statement of a script commits on its own: W02, and not W01 as well."""
    assert spots(TORN) == [("W02", 1)]


@pytest.mark.parametrize(
    "text",
    [
        f"BEGIN;\n{TORN}COMMIT;",
        f"START TRANSACTION;\n{TORN}COMMIT;",
        f"BEGIN TRY\nBEGIN TRANSACTION\n{TORN}COMMIT TRANSACTION\nEND TRY",
        f"CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$ BEGIN {TORN} END $$;",
    ],
)
def test_one_transaction_is_no_tear(text: str) -> None:
    """Delete and insert that commit together are a replace."""
    assert rules(text) == set()


DOUBLED_PYTHON = {
    "spark": 'df.write.mode("append").saveAsTable("lake.t")',
    "spark keyword": 'df.write.parquet("s3://b/t", mode="append")',
    "spark jdbc": 'df.write.format("jdbc").option("dbtable", "t").mode("append").save()',
    "insertInto": 'df.write.insertInto("lake.t")',
    "writeTo": 'df.writeTo("lake.t").append()',
    "in a variable": 'writer = df.write.mode("append")\nwriter.save("s3://b/t")',
    "pandas": 'df.to_sql("t", engine, if_exists="append")',
    "pandas in chunks": (
        'for chunk in pd.read_csv("x.csv", chunksize=9):\n'
        '    chunk.to_sql("t", engine, if_exists="append")'
    ),
    "csv": 'df.to_csv("all.csv", mode="a")',
    "bigquery default": 'client.load_table_from_dataframe(df, "d.t").result()',
    "bigquery rows": 'client.insert_rows_json("d.t", rows)',
    "snowflake": 'write_pandas(conn, df, "T")',
    "delta-rs": 'write_deltalake("s3://b/t", table, mode="append")',
    "polars": 'frame.write_database("t", url, if_table_exists="append")',
    "wrangler": (
        'import awswrangler as wr\nwr.s3.to_parquet(df, "s3://b", dataset=True, mode="append")'
    ),
    "any library": 'loader.export(df, "public", "t", if_exists="append")',
    "mongo": "db.orders.insert_many(rows)",
    "cursor": 'cur.execute("INSERT INTO t SELECT * FROM s")',
    "executemany": 'cur.executemany("INSERT INTO t VALUES (%s, %s)", rows)',
    "f-string": 'table = "t"\ncur.execute(f"INSERT INTO {table} SELECT * FROM {source}")',
    "format": 'cur.execute("INSERT INTO {} SELECT * FROM {}".format(target, source))',
    "percent": 'cur.execute("INSERT INTO %s SELECT * FROM s" % target)',
    "concatenation": 'sql = "INSERT INTO t "\nsql += "SELECT * FROM s"\ncur.execute(sql)',
    "constant": 'Q = """\nINSERT INTO t SELECT * FROM s\n"""\ndef load(cur):\n    cur.execute(Q)',
    "in a helper": 'def run(q):\n    cur.execute(q)\n\n\nrun("INSERT INTO t SELECT * FROM s")',
    "rows in a loop": (
        'for row in csv.reader(f):\n    cur.execute("INSERT INTO t VALUES (%s)", (row[0],))'
    ),
}
GUARDED_PYTHON = {
    "first round replaces": (
        "for i, chunk in enumerate(chunks):\n"
        '    chunk.to_sql("t", engine, if_exists="replace" if i == 0 else "append")'
    ),
    "emptied by its head": (
        'df.head(0).to_sql("t", engine, if_exists="replace")\n'
        'df.to_sql("t", engine, if_exists="append")'
    ),
    "overwrite before append": (
        'a.write.mode("overwrite").parquet("s3://b/t")\nb.write.mode("append").parquet("s3://b/t")'
    ),
    "truncate before": (
        'cur.execute("TRUNCATE TABLE t")\ndf.to_sql("t", engine, if_exists="append")'
    ),
    "delete in the same transaction": (
        'cur.execute("DELETE FROM t WHERE d = %s", [d])\n'
        'cur.execute("INSERT INTO t SELECT * FROM s WHERE d = %s", [d])\nconn.commit()'
    ),
    "engine.begin": (
        "with engine.begin() as c:\n"
        '    c.execute(text("DELETE FROM t WHERE d = 1"))\n'
        '    c.execute(text("INSERT INTO t SELECT * FROM s"))'
    ),
    "left anti": (
        'new = df.join(old, "id", "left_anti")\nnew.write.mode("append").saveAsTable("lake.t")'
    ),
    "isin": (
        'df = pd.read_csv("x.csv")\ndf = df[~df["id"].isin(known)]\n'
        'df.to_sql("t", engine, if_exists="append")'
    ),
    "disposition set later": (
        "config = bigquery.LoadJobConfig()\n"
        'config.write_disposition = "WRITE_TRUNCATE"\n'
        'client.load_table_from_dataframe(df, "d.t", job_config=config)'
    ),
    "upsert sink": (
        'df.write.format("org.apache.spark.sql.cassandra").mode("append")'
        '.options(table="t", keyspace="k").save()'
    ),
    "upsert": ('cur.executemany("INSERT INTO t VALUES (%s) ON CONFLICT (id) DO NOTHING", rows)'),
    "checked before": (
        'if already_loaded(day):\n    raise SystemExit\ndf.to_sql("t", engine, if_exists="append")'
    ),
    "temporary": 'df.to_sql("tmp_orders", engine, if_exists="append")',
    "a log": 'cur.execute("INSERT INTO job_log VALUES (%s, %s)", (name, status))',
    "printed": 'print("INSERT INTO t SELECT * FROM s")',
    "a message": 'raise ValueError("INSERT INTO t SELECT * FROM s failed")',
}


@pytest.mark.parametrize("text", DOUBLED_PYTHON.values(), ids=DOUBLED_PYTHON.keys())
def test_python_that_adds_rows_again(text: str) -> None:
    """A write of any library that adds without a guard is W01."""
    assert "W01" in rules_py(text)


@pytest.mark.parametrize("text", GUARDED_PYTHON.values(), ids=GUARDED_PYTHON.keys())
def test_python_that_only_looks_like_an_append(text: str) -> None:
    """What comes before, the condition around or the sink itself makes the append harmless."""
    assert rules_py(text) == set()


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("tests/test_load.py", 'df.to_sql("t", engine, if_exists="append")'),
        ("db/migrations/0003_fill.sql", "INSERT INTO t SELECT * FROM s"),
        ("web/app.py", 'from flask import Flask\ncur.execute("INSERT INTO t SELECT a FROM s")'),
        ("scripts/generate_fake_data.py", 'df.to_sql("t", engine, if_exists="append")'),
        ("repo/users.py", 'def add(u):\n    cur.execute("INSERT INTO users VALUES (%s)", (u,))'),
    ],
)
def test_code_that_is_no_pipeline_is_left_alone(path: str, text: str) -> None:
    """Tests, migrations, web applications, sample data and single-row CRUD are no pipelines."""
    assert rules(text, path) == set()


def test_autocommit_tears_a_replace_apart() -> None:
    """On a connection that commits each statement, delete and insert are W02."""
    text = (
        "conn = psycopg2.connect(dsn)\nconn.autocommit = True\ncur = conn.cursor()\n"
        'cur.execute("DELETE FROM t WHERE d = 1")\ncur.execute("INSERT INTO t SELECT a FROM s")\n'
    )
    assert rules_py(text) == {"W02"}


def test_a_commit_between_tears_a_replace_apart() -> None:
    """A delete that is committed on its own does not guard the insert after it."""
    text = (
        'cur.execute("DELETE FROM t WHERE d = 1")\nconn.commit()\n'
        'cur.execute("INSERT INTO t SELECT a FROM s")\nconn.commit()\n'
    )
    assert rules_py(text) == {"W02"}
