"""Folders of tables and partitions, understood without touching a disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from setpoint.errors import UsageError
from setpoint.model.column_type import fits
from setpoint.model.grain import Grain, parse_instant
from setpoint.model.table import TableName
from setpoint.model.table_folder import owned_folder, partition_of, table_folder
from setpoint.model.target import GUARANTEES, PATTERNS


def test_a_table_lies_below_its_warehouse() -> None:
    """Namespace and name are folders; letters of any script are names."""
    table = TableName.parse("dl.shop.`été 2026`")
    assert table_folder(Path("/w"), table) == Path("/w/shop/été 2026")


@pytest.mark.parametrize(
    "name", ["..", ".", "a/b", "a\\b", "_hidden", ".hidden", "a*", "{a}", "a;b", "x'y", "a.", "a=b"]
)
def test_scenario_34_a_name_that_is_no_safe_folder_is_refused(name: str) -> None:
    """None leaves the warehouse, is hidden from Spark, or is read as a pattern."""
    with pytest.raises(UsageError, match="name of a folder"):
        table_folder(Path("/w"), TableName(("dl", "shop", name)))


def test_partition_folders_are_read_as_spark_writes_them() -> None:
    """Column and value, with Spark's escapes undone."""
    assert partition_of("order_date=2026-04-25") == ("order_date", "2026-04-25")
    assert partition_of("the%3Dday=a%2Fb") == ("the=day", "a/b")
    assert partition_of("part-0.parquet") is None


def test_a_window_owns_the_folders_of_its_days() -> None:
    """Half-open: the first day is in, the day after the last is not."""
    day = Grain.parse("day").window_at(parse_instant("2026-04-25", zone="UTC"))
    month = Grain.parse("month").window_at(parse_instant("2026-04-25", zone="UTC"))
    assert owned_folder("d=2026-04-25", "D", day)
    assert not owned_folder("d=2026-04-26", "d", day)
    assert not owned_folder("e=2026-04-25", "d", day)
    assert not owned_folder("d=__HIVE_DEFAULT_PARTITION__", "d", month)
    assert owned_folder("d=2026-04-30", "d", month)
    assert not owned_folder("d=2026-05-01", "d", month)


@pytest.mark.parametrize(
    ("given", "column", "verdict"),
    [
        ("int", "bigint", True),
        ("bigint", "int", False),
        ("int", "double", True),
        ("bigint", "double", False),
        ("int", "decimal(12,2)", True),
        ("int", "decimal(11,2)", False),
        ("decimal(10,2)", "decimal(12,2)", True),
        ("decimal(10,2)", "decimal(10,1)", False),
        ("string", "int", False),
        ("date", "timestamp", False),
        ("void", "string", True),
        ("struct<a:int>", "struct<a:int>", True),
    ],
)
def test_a_value_fits_where_nothing_of_it_is_lost(given: str, column: str, verdict: bool) -> None:
    """Wider is right, narrower and other are not."""
    assert fits(given, column) is verdict


def test_every_kind_of_target_says_what_it_promises() -> None:
    """No kind without guarantees, none without a pattern."""
    assert set(GUARANTEES) >= set(PATTERNS)
    for promises in GUARANTEES.values():
        assert len(promises.lines) == 4
    assert not GUARANTEES["parquet"].atomic
    assert any("may see the swap" in line for line in GUARANTEES["parquet"].lines)
