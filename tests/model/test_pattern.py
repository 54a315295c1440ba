"""The rule that chooses a write pattern, row by row."""

from __future__ import annotations

from typing import Any

import pytest

from setpoint.model.pattern import Choice, Undecided, choose
from setpoint.model.write import Merge, Overwrite, Replace, merge, overwrite, replace

CAN = {
    "iceberg": ("overwrite", "replace", "merge"),
    "delta": ("overwrite", "replace", "merge"),
    "parquet": ("overwrite", "replace"),
    "postgres": ("replace", "merge"),
}


def _choose(kind: str = "iceberg", **given: Any) -> Choice | Undecided:
    defaults: dict[str, Any] = {"stated": None, "windowed": True, "partition_by": None, "key": ()}
    return choose(**{**defaults, **given}, kind=kind, supported=CAN[kind])


@pytest.mark.parametrize(
    ("kind", "given", "write", "reason"),
    [
        ("iceberg", {"partition_by": "d"}, Overwrite(by="d"), "time-partitioned by d"),
        ("delta", {"partition_by": "d"}, Overwrite(by="d"), "a run owns whole windows"),
        ("parquet", {"partition_by": "d"}, Overwrite(by="d"), "time-partitioned"),
        ("postgres", {"partition_by": "d"}, Replace(by="d"), "in one transaction"),
        (
            "iceberg",
            {"key": ["id"], "version": "v"},
            Merge(on=("id",), version="v"),
            "one row for each id; the newest v wins",
        ),
        (
            "postgres",
            {"key": ["id"], "version": "v", "windowed": False},
            Merge(on=("id",), version="v"),
            "one row for each id",
        ),
        ("iceberg", {"windowed": False}, Replace(), "no grain"),
        ("postgres", {"windowed": False, "key": ["id"]}, Replace(), "no grain"),
        # A time-partitioned table with a version as well is still set by windows.
        ("delta", {"partition_by": "d", "key": ["id"], "version": "v"}, Overwrite(by="d"), "time"),
        ("iceberg", {"stated": overwrite("d"), "key": ["id"]}, Overwrite(by="d"), "stated"),
        ("iceberg", {"stated": replace()}, Replace(), "stated"),
        ("postgres", {"stated": replace(by="d")}, Replace(by="d"), "stated"),
        (
            "delta",
            {"stated": merge("ID", version="v"), "key": ["id"]},
            Merge(on=("ID",), version="v"),
            "stated",
        ),
        (
            "iceberg",
            {"stated": merge("id"), "windowed": False},
            Merge(on=("id",)),
            "stated",
        ),
    ],
)
def test_a_pattern_is_chosen_with_its_reason(
    kind: str, given: dict[str, Any], write: object, reason: str
) -> None:
    """B5: each row of the rule, for each kind of destination."""
    choice = _choose(kind, **given)
    assert isinstance(choice, Choice), choice
    assert choice.write == write
    assert reason in choice.reason


@pytest.mark.parametrize(
    ("kind", "given", "reason", "fix"),
    [
        ("iceberg", {}, "does not say which rows", 'write=overwrite(by="…")'),
        ("postgres", {}, "does not say which rows", 'write=replace(by="…")'),
        ("iceberg", {"version": "v"}, "no key to merge by", "unique_key"),
        ("iceberg", {"stated": overwrite("d"), "windowed": False}, "no grain", 'grain="day"'),
        ("postgres", {"stated": replace(by="d"), "windowed": False}, "no grain", "replace()"),
        ("postgres", {"stated": overwrite("d")}, "Postgres cannot do", 'replace(by="d")'),
        ("iceberg", {"stated": replace(by="d")}, "Iceberg swaps", 'overwrite(by="d")'),
        ("parquet", {"stated": replace(by="d")}, "Hive-style Parquet", 'overwrite(by="d")'),
        (
            "parquet",
            {"stated": merge("id", version="v"), "partition_by": "d"},
            "Hive-style Parquet cannot do merge",
            'overwrite(by="d")',
        ),
        (
            "parquet",
            {"key": ["id"], "version": "v", "windowed": False},
            "cannot do merge",
            "replace()",
        ),
        ("iceberg", {"stated": merge("id")}, "needs a version", "updated_at"),
        (
            "iceberg",
            {"stated": merge("id", delete_when="gone"), "windowed": False},
            "deletes needs a version",
            "version=",
        ),
        (
            "iceberg",
            {"stated": merge("id", version="v"), "key": ["email"]},
            "is not what the task merges on",
            "leave unique_key out",
        ),
    ],
)
def test_what_does_not_suit_is_refused_with_what_does(
    kind: str, given: dict[str, Any], reason: str, fix: str
) -> None:
    """B5: a stated pattern that does not fit names the one that does."""
    refused = _choose(kind, **given)
    assert isinstance(refused, Undecided), refused
    assert reason in refused.reason
    assert fix in refused.fix


def test_what_a_destination_can_do_is_known_by_its_kind() -> None:
    """Without a list of patterns the kind's own is taken; an unknown kind can do nothing."""
    given: dict[str, Any] = {"stated": None, "windowed": False, "partition_by": None, "key": ()}
    assert isinstance(choose(**given, kind="iceberg"), Choice)
    assert isinstance(choose(**given, kind="tape"), Undecided)
