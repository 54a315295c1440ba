"""Replay: a run again on exactly what it read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.spark.conftest import EVERY_EXTENSION, ORDERS, Bench

from setpoint.engine.spark.postgres.moment import Moments
from setpoint.errors import SourceFault, UsageError
from setpoint.project.project import load_project
from setpoint.running.replaying import replay_plan
from setpoint.running.runner import Runner

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from setpoint.running.result import RunResult

pytestmark = pytest.mark.spark


def _replay(bench: Bench, run_id: str) -> RunResult:
    plan = replay_plan(load_project(bench.root).graph, bench.ledger.run(run_id))
    return Runner(engine=bench.engine, ledger=bench.ledger, checksum=True).run(plan)[0]


def test_a_run_is_replayed_on_the_snapshots_that_it_read(shop: Bench) -> None:
    """D6: the source has changed since; the replay gives what the run gave, by checksum."""
    (first,) = shop.ok("2026-04-25", checksum=True)
    shop.spark.sql("DELETE FROM lake.raw.orders WHERE order_id = 150")
    shop.spark.sql("UPDATE lake.raw.orders SET amount = 0 WHERE order_id = 151")
    (second,) = shop.ok("2026-04-25", checksum=True)
    assert second.checksum != first.checksum
    again = _replay(shop, (first.run_id or "")[:8])
    assert again.error is None
    assert again.checksum == first.checksum
    detail = shop.ledger.run(again.run_id or "").detail
    assert detail["inputs"] == shop.ledger.run(first.run_id or "").detail["inputs"]


def test_a_snapshot_that_has_expired_is_told(shop: Bench) -> None:
    """D6: nothing else is read in its place."""
    (first,) = shop.ok("2026-04-25")
    shop.spark.sql("DELETE FROM lake.raw.orders WHERE order_id = 150")
    shop.spark.sql(
        "CALL lake.system.expire_snapshots(table => 'raw.orders', "
        "older_than => TIMESTAMP '2999-01-01 00:00:00', retain_last => 1)"
    )
    error = _replay(shop, first.run_id or "").error
    assert isinstance(error, SourceFault)
    assert "has expired from lake.raw.orders" in error.message
    assert shop.count("lake.shop.orders") == 144


def test_a_source_without_snapshots_cannot_be_replayed(shop: Bench) -> None:
    """D6: a run that recorded no snapshot of a source is refused in clear words."""
    (first,) = shop.ok("2026-04-25")
    run = shop.ledger.run(first.run_id or "")
    task = load_project(shop.root).graph.task("orders")
    with pytest.raises(SourceFault) as caught, Moments() as moments:
        shop.engine._build(task, first.step.window, moments, {})
    assert "recorded no snapshot of lake.raw.orders" in caught.value.message
    assert run.detail["inputs"]


def test_a_run_that_failed_cannot_be_replayed(shop: Bench) -> None:
    """It recorded nothing to read."""
    shop.spark.sql("INSERT INTO lake.raw.orders SELECT * FROM lake.raw.orders")
    (failed,) = shop.run("2026-04-25")
    with pytest.raises(UsageError, match="is not recorded"):
        _replay(shop, failed.run_id or "")


COUNTED = """
@task(target="lake.shop.totals", write=replace(),
      sources={{"raw": Source("{table}", static=True)}})
def totals(raw):
    return raw.agg(F.count("*").alias("orders"), F.max("order_id").alias("newest"))
"""


@pytest.mark.parametrize("kind", ["iceberg", "delta"])
def test_what_was_read_is_recorded_however_spark_read_it(
    jvm: SparkSession,  # noqa: ARG001 — the JVM must be up
    tmp_path: Path,
    kind: str,
) -> None:
    """D6: an answer from Iceberg's metadata, or a Delta table: recorded and replayed."""
    bench = Bench(tmp_path, EVERY_EXTENSION)
    if kind == "delta":
        folder = bench.root / "delta" / "raw" / "orders"
        bench.spark.sql(ORDERS).write.format("delta").save(str(folder))
        table, source = f"delta.`{folder}`", "dl.raw.orders"
    else:
        table = source = "lake.raw.orders"
        bench.table(table, ORDERS)
    bench.python(COUNTED.format(table=source))
    (first,) = bench.ok()
    inputs = bench.ledger.run(first.run_id or "").detail["inputs"]
    assert isinstance(inputs, dict)
    assert list(inputs) == [source]
    bench.spark.sql(f"DELETE FROM {table} WHERE order_id >= 100")
    (second,) = bench.ok()
    assert bench.rows("SELECT orders, newest FROM lake.shop.totals") == [(100, 99)]
    assert bench.ledger.run(second.run_id or "").detail["inputs"] != inputs
    assert _replay(bench, first.run_id or "").error is None
    assert bench.rows("SELECT orders, newest FROM lake.shop.totals") == [(432, 431)]
