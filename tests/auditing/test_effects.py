"""Effects, files and windows that only look harmless."""

from __future__ import annotations

import pytest
from tests.auditing.asking import rules_py

POSTED = """
import requests, psycopg
def {name}(ds):
    requests.post("https://hooks.slack.com/services/x", json={{"text": ds}})
with psycopg.connect("dbname=x") as conn:
    conn.execute("DELETE FROM t WHERE d = 1")
{name}("2026-04-25")
"""


@pytest.mark.parametrize("name", ["tell_slack", "post_to_slack", "translate_and_post"])
def test_a_post_is_found_whatever_letters_its_function_holds(name: str) -> None:
    """The letters of SLA inside of another word make no alert of a failure."""
    assert "X02" in rules_py(POSTED.format(name=name))


@pytest.mark.parametrize("name", ["sla_missed", "notify_sla", "on_failure"])
def test_an_alert_of_a_failure_is_let_be(name: str) -> None:
    """A word about a failure may come with each attempt."""
    assert "X02" not in rules_py(POSTED.format(name=name))


def test_records_posted_to_a_topic_are_found() -> None:
    """A broker's HTTP door takes a record as often as it is sent."""
    job = """
    import requests
    def publish(rows):
        for row in rows:
            answer = requests.post(f"{BROKER}/topics/shop.purchases", json={"records": [row]})
            answer.raise_for_status()
    publish(load())
    """
    assert "X03" in rules_py(job)


def test_a_clock_is_followed_through_pages_that_are_gathered() -> None:
    """Pages added to a list one by one carry the window that they were asked for."""
    job = """
    import psycopg, requests
    from datetime import datetime, timezone
    def fetch(end):
        rows = []
        while True:
            page = requests.get("http://api/v1", params={"until": int(end.timestamp())}).json()
            rows += page["data"]
            if not page["more"]:
                return rows
    def load():
        rows = fetch(datetime.now(timezone.utc))
        with psycopg.connect("dbname=x") as conn, conn.cursor() as cur:
            cur.executemany("INSERT INTO t (a) VALUES (%s)", rows)
    load()
    """
    assert {"T04", "W01"} <= rules_py(job)


DATASET = """
import pyarrow.parquet as pq
def copy(table):
    pq.write_to_dataset(table, root_path="lake/orders", partition_cols=["d"]{more})
copy(load())
"""


def test_a_dataset_that_gets_new_files_on_each_run_is_found() -> None:
    """PyArrow gives each call's files names of their own."""
    assert "W01" in rules_py(DATASET.format(more=""))


@pytest.mark.parametrize(
    "more",
    [', existing_data_behavior="delete_matching"', ', basename_template="2026-04-25-{i}.parquet"'],
)
def test_a_dataset_whose_files_are_replaced_is_let_be(more: str) -> None:
    """Cleared partitions and files with names of the run's own are set, not added."""
    assert "W01" not in rules_py(DATASET.replace("{more}", more))
