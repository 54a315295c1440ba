"""Scenario 9: the answer to a commit is lost; whether it took place is looked up, not guessed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import PySparkException
from tests.spark.targets import target_of

from setpoint.engine.spark.delta import DeltaTarget
from setpoint.engine.spark.engine import SparkEngine
from setpoint.engine.spark.iceberg import IcebergTarget
from setpoint.project.settings import read_settings

if TYPE_CHECKING:
    from tests.spark.conftest import Bench

pytestmark = pytest.mark.spark
DAY = "2026-04-25"
UNKNOWN = (
    "org.apache.iceberg.exceptions.CommitStateUnknownException: Cannot determine whether the "
    "commit was successful or not"
)
TOML = '[catalogs.lake]\n[catalogs.dl]\ntype = "delta"\nwarehouse = "dl"\n'
TASK = """
@task(target="{target}", grain="day", write=overwrite(by="order_date"), retries=1,
      sources={{"raw": Source("lake.raw.orders", event_time="ordered_at")}})
def orders(raw):
    return raw.withColumn("order_date", F.to_date("ordered_at"))
"""


def _lose(monkeypatch: pytest.MonkeyPatch, kind: type[Any], words: str, *, after: bool) -> None:
    """Let the first commit's answer be an error, after or instead of the commit."""
    write = kind._commit if kind is DeltaTarget else kind.write
    lost: list[int] = []

    def losing(self: Any, *arguments: Any) -> None:
        first = not lost
        lost.append(1)
        if after or not first:
            write(self, *arguments)
        if first:
            raise PySparkException(words)

    monkeypatch.setattr(kind, "_commit" if kind is DeltaTarget else "write", losing)


@pytest.mark.parametrize(
    ("target", "words"),
    [("lake.shop.orders", UNKNOWN), ("dl.shop.orders", "Connection reset by peer")],
    ids=["iceberg", "delta"],
)
@pytest.mark.parametrize("after", [True, False], ids=["done", "not done"])
def test_scenario_9_a_lost_answer_is_looked_up(
    shop: Bench, monkeypatch: pytest.MonkeyPatch, target: str, words: str, *, after: bool
) -> None:
    """It took place: found, one attempt. It did not: tried again. One commit either way."""
    toml = shop.root / "setpoint.toml"
    toml.write_text(toml.read_text() + TOML)
    shop.engine = SparkEngine(read_settings(shop.root), say=lambda _text: None)
    shop.python(TASK.format(target=target))
    kind = IcebergTarget if target.startswith("lake") else DeltaTarget
    _lose(monkeypatch, kind, words, after=after)
    (result,) = shop.ok(DAY)
    assert (result.attempts, result.rows) == (1 if after else 2, 144)
    table = target_of(shop, target)
    assert [mark.run_id for mark in table.marks()] == [result.run_id]
    shown = table.reference()
    assert shop.count(shown) == 144
