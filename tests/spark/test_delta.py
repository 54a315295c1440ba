"""What is Delta's own: its log, its checkpoints, and writers at the same time."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from tests.spark.conftest import ORDERS, TOML, Bench

from setpoint.errors import CommitConflict, EnvironmentFault

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from setpoint.engine.spark.target import Writing

pytestmark = pytest.mark.spark
DELTA = TOML + '[catalogs.lake]\n[catalogs.dl]\ntype = "delta"\n'
HOURLY = """
@task(target="dl.shop.events", grain="hour", write=overwrite(by="ordered_at"),
      unique_key="order_id", sources={"raw": Source("lake.raw.orders", event_time="ordered_at")})
def events(raw):
    return raw
"""


@pytest.fixture
def lake(jvm: SparkSession, tmp_path: Path) -> Bench:  # noqa: ARG001 — the JVM must be up
    """A project with raw orders in Iceberg and a Delta catalog."""
    bench = Bench(tmp_path, DELTA)
    bench.table("lake.raw.orders", ORDERS)
    bench.python(HOURLY)
    return bench


def test_hours_in_shared_files_are_set_side_by_side(
    lake: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A5: Delta sees a conflict where windows share no partition; their rows do not meet."""
    from setpoint.engine.spark.delta import DeltaTarget

    lake.ok("2026-04-24T01:00")
    original = DeltaTarget._commit
    meddled: list[int] = []

    def commit(self: DeltaTarget, frame: object, writing: Writing) -> None:
        if not meddled:
            meddled.append(1)
            other = threading.Thread(target=lake.ok, args=("2026-04-24T02:00",))
            other.start()
            other.join()
        original(self, frame, writing)  # type: ignore[arg-type]

    monkeypatch.setattr(DeltaTarget, "_commit", commit)
    result = lake.ok("2026-04-24T01:00")[0]
    assert (result.rows, result.replaced) == (6, 6)
    folder = lake.root / "delta" / "shop" / "events"
    assert lake.count(f"delta.`{folder}`") == 12
    assert lake.exists(f"delta.`{folder}`")


def test_two_writers_of_one_hour_conflict_and_one_commits(
    lake: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scenario 11: the second to commit is told so; the rows are those of one run."""
    from setpoint.engine.spark.delta import DeltaTarget

    lake.ok("2026-04-24T01:00")
    original = DeltaTarget._refuse_stale
    folder = lake.root / "delta" / "shop" / "events"
    calls: list[int] = []

    def checked(self: DeltaTarget, writing: Writing) -> None:
        original(self, writing)
        if not calls:
            calls.append(1)
            lake.spark.sql(f"DELETE FROM delta.`{folder}` WHERE order_id = 7")
            original(self, writing)

    monkeypatch.setattr(DeltaTarget, "_refuse_stale", checked)
    error = lake.error("2026-04-24T01:00")
    assert isinstance(error, CommitConflict)
    assert lake.count(f"delta.`{folder}`") == 5


def test_compaction_meanwhile_is_no_conflict(lake: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scenario 20: OPTIMIZE moves rows to other files and changes none."""
    from setpoint.engine.spark.delta import DeltaTarget

    lake.ok(start="2026-04-24T00:00", end="2026-04-24T03:00")
    folder = lake.root / "delta" / "shop" / "events"
    original = DeltaTarget._refuse_stale

    def compacted(self: DeltaTarget, writing: Writing) -> None:
        lake.spark.sql(f"OPTIMIZE delta.`{folder}`")
        original(self, writing)

    monkeypatch.setattr(DeltaTarget, "_refuse_stale", compacted)
    result = lake.ok("2026-04-24T01:00")[0]
    assert (result.rows, result.replaced) == (6, 6)
    assert lake.count(f"delta.`{folder}`") == 18


def test_a_commit_that_was_rolled_back_is_not_adopted(lake: Bench) -> None:
    """The history that readers see ends where RESTORE went back to."""
    from setpoint.engine.spark.delta import DeltaTarget

    first = lake.ok("2026-04-24T01:00")[0]
    second = lake.ok("2026-04-24T02:00")[0]
    folder = lake.root / "delta" / "shop" / "events"
    lake.spark.sql(f"RESTORE TABLE delta.`{folder}` TO VERSION AS OF {first.snapshot}")
    target = DeltaTarget(lake.spark, folder)
    assert target.commit(str(second.run_id)) is None
    assert target.commit(str(first.run_id)) is not None


def test_a_spark_without_delta_is_refused_with_what_to_start(
    jvm: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a notebook whose Spark was started without the extension."""
    from pyspark.sql.conf import RuntimeConfig

    monkeypatch.setattr(RuntimeConfig, "get", lambda *_: "org.example.Other")
    assert jvm is not None
    with pytest.raises(EnvironmentFault, match="without Delta"):
        Bench(tmp_path, DELTA).engine.start()
