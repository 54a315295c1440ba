"""The grain of tables, from their own snapshots."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from setpoint.cli.history import command
from setpoint.errors import UsageError
from setpoint.model.grain_diagnosis import diagnose_grain
from setpoint.model.table import TableName

if TYPE_CHECKING:
    from tests.spark.conftest import Bench

pytestmark = pytest.mark.spark
HOURLY = """
INSERT OVERWRITE lake.shop.events
SELECT {hour} AS id, DATE '2026-04-25' AS day
"""


def test_a_day_overwritten_again_and_again_is_found(bench: Bench) -> None:
    """E2: a table that Setpoint never wrote; the command says what is wrong with it."""
    bench.table("lake.shop.events", "SELECT 0 AS id, DATE '2026-04-25' AS day", "day")
    for hour in range(1, 5):
        bench.spark.sql(HOURLY.format(hour=hour))
    ran = CliRunner().invoke(
        command, ["lake.shop.events", "--grain", "--output", "json", "--project", str(bench.root)]
    )
    assert ran.exit_code == 0, ran.output
    found = json.loads(ran.stdout)
    assert found["table"] == "lake.shop.events"
    assert sum(day["writes"] for day in found["days"]) == 5
    assert "day=2026-04-25 was overwritten 4 times" in found["problems"][0]


def test_runs_of_setpoint_are_told_from_others(shop: Bench) -> None:
    """Setting one window ten times is what windows are for."""
    for _ in range(4):
        shop.ok("2026-04-25")
    diagnosis = diagnose_grain(shop.engine.partition_writes(TableName.parse("lake.shop.orders")))
    assert diagnosis.problems == ()
    assert sum(day.by_setpoint for day in diagnosis.days) == 4


def test_a_table_without_partitions_is_told(shop: Bench) -> None:
    """There is nothing to count."""
    with pytest.raises(UsageError, match="has no partitions"):
        shop.engine.partition_writes(TableName.parse("lake.raw.orders"))
    with pytest.raises(UsageError, match="does not exist"):
        shop.engine.partition_writes(TableName.parse("lake.raw.nothing"))
