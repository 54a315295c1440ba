"""A contract says what others may rely on, from the task alone."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from setpoint.model.contract import contract_of
from setpoint.model.gate import RowCountGate
from setpoint.model.graph import Graph
from setpoint.model.hidden_input import Allow
from setpoint.model.pattern import Choice
from setpoint.model.retry import Retry
from setpoint.model.table import TableName
from setpoint.model.task import BoundSource, Task
from setpoint.model.transform import PythonTransform, SqlTransform
from setpoint.model.write import merge, replace

if TYPE_CHECKING:
    from tests.task_maker import Maker

    from setpoint.model.contract import Contract


def section(contract: Contract, heading: str) -> tuple[str, ...]:
    """The lines under a heading."""
    return dict(contract.sections)[heading]


def test_a_windowed_task_says_what_it_owns_and_by_which_parameters(make: Maker) -> None:
    """Rows, partition column, key with its kind, grain, zone and the names of the window."""
    select = "SELECT :ds AS day, id FROM raw WHERE at < :window_end"
    task = make.task(
        reads=("raw",),
        zone="Europe/Prague",
        unique_key=("day", "id"),
        rows=RowCountGate(least=1),
        transform=SqlTransform(text=select, statement=select, first_line=1),
        description="Orders of\n  a day.",
    )
    graph = Graph.of([task, make.task("raw"), make.task("daily", reads=("orders",))])
    found = contract_of(task, graph)
    assert found.about == "Orders of a day."
    assert found.partition_column == "day"
    assert section(found, "Owns")[0] == (
        "lake.shop.orders: the rows whose day lies in the window; a run sets them and no others"
    )
    assert section(found, "Key") == ("day, id (composite)",)
    assert section(found, "Time") == (
        "windows of one day, edges in Europe/Prague, half-open [start, end)",
        "parameters: :window_end, :ds",
    )
    assert section(found, "Reads") == (
        "raw = lake.shop.raw, made by raw; the rows whose at lies in the window",
    )
    assert section(found, "Read by") == ("daily",)
    assert [
        line.partition(":")[0] for line in section(found, "Gates, before any reader sees a row")
    ] == [
        "scope",
        "not_null",
        "unique",
        "rows",
    ]
    assert section(found, "Guarantees of the target")[0].startswith("readers: old rows or new ones")
    assert section(found, "Verified") == ("not on this code",)
    assert section(found, "Written from") == ("pipelines/orders.py:1, code code-1",)


def test_a_merge_and_a_whole_table_own_other_things(make: Maker) -> None:
    """One row a key, or everything; a static source is read whole."""
    lookup = BoundSource(name="raw", table=TableName.parse("lake.x.raw"), event_time=None)
    merged = make.task(
        choice=Choice(write=merge("id", version="seq", delete_when="gone"), reason="stated"),
        unique_key=("id",),
        sources=(lookup,),
    )
    found = contract_of(merged, Graph.of([merged]))
    assert found.owns == "one row for each id, the newest seq wins; deleted where gone"
    assert found.partition_column is None
    assert section(found, "Reads") == (
        "raw = lake.x.raw, made outside of this project; read whole",
    )
    whole = make.task(grain=None, choice=Choice(write=replace(), reason="no grain"))
    found = contract_of(whole, Graph.of([whole]))
    assert found.owns == "the whole table; each run sets all of it"
    assert section(found, "Time") == ("no windows: each run sets the whole table",)


def test_policies_of_time_and_exceptions_are_said(make: Maker) -> None:
    """Late rows, retries and allowed hidden inputs, each as the task has it."""
    task = make.task(
        lookback=3, retry=Retry(retries=2), allow=(Allow("rand", "a seedless sample"),)
    )
    found = contract_of(task, Graph.of([task]), verified="2026-04-25, 9 checks")
    assert "the 3 windows before its own" in section(found, "Late rows")[0]
    assert section(found, "Retries") == ("2, for transient errors only",)
    assert section(found, "Hidden inputs that are meant") == ("rand: a seedless sample",)
    assert section(found, "Verified") == ("2026-04-25, 9 checks",)
    excluded = make.task(
        late="exclude", transform=PythonTransform(function=dict, parameters=("window",))
    )
    found = contract_of(excluded, Graph.of([excluded]))
    assert section(found, "Late rows")[0].startswith("excluded")
    assert found.parameters == ("window",)


def test_every_declared_property_of_a_task_reaches_its_contract(make: Maker) -> None:
    """A field that is added to the task must be put into the contract, or named here."""
    inside = {
        *("name", "target", "grain", "choice", "transform", "path", "line", "fingerprint"),
        *("description", "unique_key", "sources", "retry", "allow", "catalog_type", "lookback"),
        *("late", "effects"),
        *("checks", "rows"),  # as gates
        "development_date",  # of no use to others
    }
    assert {f.name for f in dataclasses.fields(Task)} <= inside
    assert make.task().gates
