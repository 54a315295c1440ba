"""What a task is: its write pattern and why, its gates, its parameters, its sources."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from setpoint.model.gate import RowCountGate
from setpoint.model.hidden_input import HiddenInputFound
from setpoint.model.pattern import Choice, Undecided, choose
from setpoint.model.settings import CatalogSettings, Settings
from setpoint.model.source import Source
from setpoint.model.table import TableName
from setpoint.model.task import BoundSource
from setpoint.model.transform import SQL_PARAMETERS, sql_parameters
from setpoint.model.window import Window
from setpoint.model.write import Merge, Overwrite, Replace, Write, merge, overwrite, replace

if TYPE_CHECKING:
    from pathlib import Path

    from tests.task_maker import Maker

DAY = Window.parse_key("2026-04-25T00:00:00Z/2026-04-26T00:00:00Z")
ALL = ("overwrite", "merge", "replace")


@pytest.mark.parametrize(
    ("stated", "windowed", "partition_by", "version", "expected", "reason"),
    [
        (Replace(), True, "day", None, Replace(), "stated"),
        (None, True, "day", None, Overwrite(by="day"), "time-partitioned by day"),
        (None, True, None, "v", Merge(on=("id",), version="v"), "one row for each id"),
        (None, False, None, None, Replace(), "no grain"),
        (None, False, "day", None, Replace(), "no grain"),
    ],
)
def test_the_pattern_is_chosen_by_a_rule_and_explained(  # noqa: PLR0917 — a table of cases
    stated: Write | None,
    windowed: bool,
    partition_by: str | None,
    version: str | None,
    expected: Write,
    reason: str,
) -> None:
    """Stated, time-partitioned, one row an entity, or no windows: each with its reason (B5)."""
    choice = choose(
        stated=stated,
        windowed=windowed,
        partition_by=partition_by,
        key=["id"],
        version=version,
        supported=ALL,
    )
    assert isinstance(choice, Choice)
    assert choice.write == expected
    assert reason in choice.reason


@pytest.mark.parametrize(
    ("stated", "windowed", "fix"),
    [
        (None, True, "overwrite(by="),
        (overwrite(by="day"), False, "grain="),
        (merge("id"), True, "version="),
    ],
)
def test_a_task_that_fits_no_pattern_is_told_what_to_add(
    stated: Write | None,
    windowed: bool,
    fix: str,
) -> None:
    """A grain without owned rows, an overwrite without windows, a merge without a version."""
    undecided = choose(stated=stated, windowed=windowed, partition_by=None, key=["id"])
    assert isinstance(undecided, Undecided)
    assert fix in undecided.fix


def test_patterns_are_written_in_few_words() -> None:
    """A merge takes one column or several; each pattern knows its name."""
    assert merge("id", version="v", delete_when="gone").on == ("id",)
    assert merge(["a", "b"]).on == ("a", "b")
    assert [w.name for w in (overwrite(by="d"), merge("id"), replace())] == list(ALL)


def test_gates_follow_from_what_the_task_says(make: Maker) -> None:
    """The scope, the key, the checks and the row count, in the order in which people read them."""
    task = make.task(
        unique_key=("day", "region"),
        checks={"positive": "amount >= 0"},
        rows=RowCountGate(least=1, most=2000),
    )
    assert [str(gate) for gate in task.gates] == [
        "scope: day of every row lies in the window",
        "not_null: day, region",
        "unique: one row for each day, region",
        "positive: amount >= 0",
        "rows: 1 to 2,000 rows",
    ]


def test_a_task_that_sets_its_whole_table_has_no_scope_to_leave(make: Maker) -> None:
    """Only what is stated is checked."""
    bare = make.task(choice=Choice(write=replace(), reason="stated"), grain=None)
    assert bare.gates == ()


@pytest.mark.parametrize(
    ("gate", "inside", "outside", "words"),
    [
        (RowCountGate(least=2), (2, 9), (0, 1), "at least 2 rows"),
        (RowCountGate(most=2), (0, 2), (3,), "at most 2 rows"),
        (RowCountGate(least=1, most=2), (1, 2), (0, 3), "1 to 2 rows"),
        (RowCountGate(most=0), (0,), (1,), "at most 0 rows"),
    ],
)
def test_row_counts_are_kept_within_their_limits(
    gate: RowCountGate, inside: tuple[int, ...], outside: tuple[int, ...], words: str
) -> None:
    """The limits themselves are allowed."""
    assert all(map(gate.allows, inside))
    assert not any(map(gate.allows, outside))
    assert gate.limits == words


def test_sql_knows_the_window_under_the_names_that_people_use() -> None:
    """Start and end, the data interval, the logical date, `ds` and `next_ds` (D1)."""
    values = sql_parameters(DAY)
    assert tuple(values) == SQL_PARAMETERS
    assert values["window_start"] == values["data_interval_start"] == DAY.start
    assert values["window_end"] == values["data_interval_end"] == DAY.end
    assert values["logical_date"] == DAY.start
    assert (values["ds"], values["next_ds"]) == ("2026-04-25", "2026-04-26")
    assert sql_parameters(None) == {}


def test_a_static_source_is_never_bounded() -> None:
    """A lookup is read whole; another source is bounded by its event time."""
    table = TableName.parse("lake.shop.rates")
    assert BoundSource.of("r", Source("x", static=True), table).event_time is None
    assert BoundSource.of("r", Source("x", event_time="at"), table).event_time == "at"


def test_a_hidden_input_says_what_and_where() -> None:
    """The function and the place, in one line."""
    found = HiddenInputFound(function="now", place="a filter", fix="use the window")
    assert str(found) == "now in a filter"
    assert found.refused


def test_a_catalog_is_embedded_when_setpoint_keeps_its_files(tmp_path: Path) -> None:
    """A warehouse folder means embedded; a server's catalog has none."""
    lake = CatalogSettings(name="lake", warehouse=tmp_path)
    assert lake.embedded
    assert not CatalogSettings(name="corporate", conf={"uri": "https://x"}).embedded
    settings = Settings(
        root=tmp_path, name="shop", pipelines=tmp_path, ledger_url="memory:", catalogs={}
    )
    assert settings.state == tmp_path / ".setpoint"
