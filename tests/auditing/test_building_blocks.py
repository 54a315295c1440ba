"""Code that others call, and checks of what is there already: what looks unsafe and is not."""

from __future__ import annotations

import pytest
from tests.auditing.asking import audit, rules, rules_py, spots

from setpoint.auditing.finding import Verdict

GENERIC_WRITER = """
    import pandas as pd

    class Loader:
        def load(self, frame, table):
            frame.to_sql(table, self.engine, if_exists="append")
"""
QUIET = {
    "a join that keeps what the target lacks": """
        from pyspark.sql import SparkSession
        spark = SparkSession.builder.getOrCreate()
        known = spark.read.table("gold.codes")
        fresh = (
            spark.read.table("silver.codes").alias("n")
            .join(known.alias("k"), "code", "left")
            .filter(col("k.code").isNull())
        )
        fresh.write.mode("append").saveAsTable("gold.codes")
    """,
    "a merge whose left_only rows are kept": """
        import pandas as pd
        both = pd.read_sql(query, engine).merge(old, on="id", how="left", indicator=True)
        fresh = both[both["_merge"] == "left_only"]
        fresh.to_sql("target", engine, if_exists="append")
    """,
    "a list without what the table holds": """
        import pandas as pd
        held = engine.execute("select id from target")
        fresh = [{"id": one} for one in frame["id"] if one not in list(held.fetchall())]
        pd.DataFrame(fresh).to_sql("target", engine, if_exists="append")
    """,
    "a disposition that the caller chooses": """
        from google.cloud import bigquery
        def load(rows, disposition):
            config = bigquery.LoadJobConfig(write_disposition=disposition)
            bigquery.Client().load_table_from_json(rows, "p.d.t", job_config=config)
    """,
    "a disposition whose default replaces": """
        from google.cloud import bigquery
        def load(rows, how=bigquery.WriteDisposition.WRITE_TRUNCATE):
            config = bigquery.LoadJobConfig(write_disposition=how)
            bigquery.Client().load_table_from_json(rows, "p.d.t", job_config=config)
    """,
    "words that begin as SQL does": """
        import pandas as pd
        frame = pd.read_csv("x.csv")
        session.execute("Load data of " + name)
        query.append("COPY GRANTS")
        hook.run(f"Copy {name}")
    """,
    "an object's own address": """
        import requests
        class Jobs:
            def submit(self, spec):
                requests.post(f"https://{self.host}/jobs/submit", json=spec)
    """,
}


@pytest.mark.parametrize("text", QUIET.values(), ids=QUIET.keys())
def test_what_only_looks_unsafe_is_quiet(text: str) -> None:
    """Nothing is found in code that a second run does not change."""
    assert rules_py(text) == set()


def test_a_writer_whose_callers_choose_the_table_is_unknown() -> None:
    """A building block is neither safe nor unsafe by itself."""
    report = audit({"etl/loader.py": GENERIC_WRITER})
    assert not report.findings
    assert [one.verdict for one in report.pipelines] == [Verdict.UNKNOWN]


def test_a_writer_that_names_its_table_is_found() -> None:
    """The same method with a table of its own doubles its rows."""
    assert "W01" in rules_py(GENERIC_WRITER.replace("(table,", '("sales",'))


def test_housekeeping_beside_an_insert_has_no_clock_in_its_filter() -> None:
    """What is too old is deleted by the clock on purpose, also from a table that is filled here."""
    deleted = "DELETE FROM runs WHERE started + INTERVAL '90 days' < current_timestamp;"
    assert rules(f"{deleted}\nINSERT INTO runs (a) SELECT a FROM s ON CONFLICT DO NOTHING") == set()


def test_names_of_things_are_keys() -> None:
    """The name of a table or file does not change under a row as that of a person does."""
    upsert = "INSERT INTO c ({0}, v) SELECT {0}, v FROM s ON CONFLICT ({0}) DO UPDATE SET v = 1"
    assert rules(upsert.format("table_name")) == set()
    assert rules(upsert.format("full_name")) == {"W06"}


PLACED = """
    import datetime
    from pyspark.sql.functions import lit
    def due():
        first = datetime.date.today().replace(day=1)
        return first + datetime.timedelta(days=4)
    frame = spark.read.csv("raw").withColumn("prcsng_on", lit(due()))
    frame.write.mode("overwrite").partitionBy("prcsng_on").parquet("processed")
"""


def test_a_clock_in_a_partitioning_column_of_any_name_decides_placement() -> None:
    """What a write partitions by is a partition, whatever it is called."""
    assert rules_py(PLACED) == {"T02"}
    assert "T02" not in rules_py(PLACED.replace('.partitionBy("prcsng_on")', ""))


def test_a_clock_in_rows_that_were_collected_one_by_one_is_seen() -> None:
    """A list that grows in a loop keeps what its rows were made of."""
    text = """
        from datetime import date
        from google.cloud import bigquery
        rows = []
        for route in ROUTES:
            rows.append({"snapshot_date": date.today().isoformat(), "fare": route.fare})
        config = bigquery.LoadJobConfig(write_disposition="WRITE_TRUNCATE")
        bigquery.Client().load_table_from_json(rows, "p.d.fares", job_config=config)
    """
    assert rules_py(text) == {"T02"}


def test_a_clock_in_a_command_that_a_task_starts_is_a_window() -> None:
    """What a task hands to another program decides the data as much as a query does."""
    text = """
        import subprocess
        from datetime import datetime
        from airflow.decorators import dag, task
        @dag(schedule="@daily", start_date=datetime(2024, 1, 1), catchup=False)
        def nightly():
            @task
            def transform():
                subprocess.run(["dbt", "run", "--vars", f"day: {datetime.today().date()}"])
            transform()
        nightly()
    """
    assert "T04" in rules_py(text, "dags/nightly.py")


def test_dynamic_overwrite_set_by_sql_counts_and_the_first_creation_does_not() -> None:
    """A table that is made in this arm has no partitions that could go stale."""
    text = """
        spark.sql("SET spark.sql.sources.partitionOverwriteMode = dynamic")
        if spark.catalog.tableExists("d.t"):
            frame.write.mode("overwrite").insertInto("d.t")
        else:
            frame.write.mode("overwrite").partitionBy("k").saveAsTable("d.t")
    """
    assert [rule for rule, line in spots(text, "etl/job.py")] == ["W03"]
    assert spots(text, "etl/job.py")[0][1] == 4
