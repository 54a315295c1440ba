"""An explanation says what a run would do, in words and as a document, without Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setpoint.model.analysis import Analysis
from setpoint.model.explanation import explain
from setpoint.model.graph import Graph
from setpoint.model.hidden_input import Allow, HiddenInputFound
from setpoint.model.pattern import Choice
from setpoint.model.retry import Retry
from setpoint.model.scope import ColumnKind, Kinds, owned_scope, source_bounds
from setpoint.model.table import TableName
from setpoint.model.task import BoundSource
from setpoint.model.transform import SqlTransform
from setpoint.model.window import Window
from setpoint.model.write import merge, replace

if TYPE_CHECKING:
    from tests.task_maker import Maker

    from setpoint.model.explanation import Explanation

DAY = Window.parse_key("2026-04-25T00:00:00Z/2026-04-26T00:00:00Z")
SELECT = "SELECT * FROM raw WHERE at > :window_start"


def line(explanation: Explanation, name: str) -> tuple[str, ...]:
    """The values of one line."""
    return dict(explanation.lines)[name]


def test_a_sql_task_shows_the_statement_that_is_carried_out(make: Maker) -> None:
    """Sources bounded, the parameters that it uses with their values, the rows it replaces."""
    task = make.task(
        reads=("raw",), transform=SqlTransform(text=SELECT, statement=SELECT, first_line=3)
    )
    known = Kinds(target=ColumnKind.DATE, sources={"raw": ColumnKind.TIMESTAMP})
    graph = Graph.of([task, make.task("raw")])
    found = explain(task, DAY, graph, known=known)
    assert found.statement == (
        "-- replace the rows of lake.shop.orders where "
        "day >= DATE '2026-04-25' AND day < DATE '2026-04-26'\n"
        "-- :window_start = 2026-04-25 00:00:00+00:00\n"
        "WITH raw AS (\n  SELECT * FROM lake.shop.raw\n"
        "  WHERE at >= TIMESTAMP '2026-04-25 00:00:00Z' "
        "AND at < TIMESTAMP '2026-04-26 00:00:00Z'\n)\n"
        f"SELECT * FROM (\n{SELECT}\n)"
    )
    assert line(found, "sources")[0].startswith("raw = lake.shop.raw, made by raw, where at >=")
    assert found.document()["statement"] == found.statement
    assert found.document()["read_by"] == ["no task of this project"]
    assert found.document()["task"] == "orders"
    assert found.document()["file"] == "pipelines/orders.py:1"


def test_a_graph_without_python_tasks_does_not_claim_that_nobody_reads_the_target(
    make: Maker,
) -> None:
    """A SQL task is explained without reading Python files, and the answer says so."""
    task = make.task()
    alone = explain(task, DAY, Graph.of([task]), known=Kinds(), sql_only=True)
    unseen = "(tasks in Python are not looked at here)"
    assert line(alone, "read by") == ("no SQL task", unseen)
    graph = Graph.of([task, make.task("daily", reads=("orders",))])
    known = explain(task, DAY, graph, known=Kinds(), sql_only=True)
    assert line(known, "read by") == ("daily", unseen)


def test_kinds_that_nobody_has_seen_are_guessed_and_said(make: Maker) -> None:
    """Before the first run the usual kinds stand in, with a line that says so."""
    task = make.task(reads=("raw",))
    found = explain(task, DAY, Graph.of([task]), known=Kinds())
    assert "guessed until the task has run" in found.statement
    known = Kinds(target=ColumnKind.DATE, sources={"raw": ColumnKind.DATE})
    assert "guessed" not in explain(task, DAY, Graph.of([task]), known=known).statement


def test_a_task_is_explained_without_a_window(make: Maker) -> None:
    """No date is made up: bounds are put in words."""
    task = make.task(reads=("raw",))
    found = explain(task, None, Graph.of([task]), known=Kinds())
    assert line(found, "window") == ("none: give --ds to see one",)
    assert "day lies in the window" in found.statement
    assert "where at lies in the window" in line(found, "sources")[0]


def test_each_pattern_has_its_words(make: Maker) -> None:
    """Overwrite by a column, merge on a key, the whole table; each with its reason."""
    whole = make.task(grain=None, choice=Choice(write=replace(), reason="no grain"))
    found = explain(whole, None, Graph.of([whole]), known=Kinds())
    assert line(found, "pattern") == ("replace the whole table", "because: no grain")
    assert line(found, "window") == ("whole table",)
    assert found.statement == "replace all rows of lake.shop.orders"
    merged = make.task(choice=Choice(write=merge(["a", "b"]), reason="stated"))
    assert line(explain(merged, DAY, Graph.of([merged]), known=Kinds()), "pattern")[0] == (
        "merge on a, b"
    )


def test_retries_allowances_and_static_sources_are_shown(make: Maker) -> None:
    """What the task may do beyond the plain case is said with its reason."""
    task = make.task(
        retry=Retry(retries=2),
        allow=(Allow("uuid", "a trace id"),),
        sources=(
            BoundSource(name="rates", table=TableName.parse("lake.ref.rates"), event_time=None),
        ),
    )
    found = explain(task, DAY, Graph.of([task]), known=Kinds())
    assert line(found, "retries")[0].startswith("2, after 1 s and then 2 times longer")
    assert line(found, "allowed") == ("uuid: a trace id",)
    assert line(found, "sources") == ("rates = lake.ref.rates, read whole (static)",)


def test_an_analysis_adds_what_the_engine_found(make: Maker) -> None:
    """Real columns and kinds take the place of guesses, and hidden inputs are listed."""
    task = make.task()
    hidden = HiddenInputFound(function="now", place="a filter", fix="use the window")
    analysis = Analysis(
        columns={"day": "timestamp"},
        kinds=Kinds(target=ColumnKind.TIMESTAMP),
        hidden=(hidden,),
        inputs={},
    )
    found = explain(task, DAY, Graph.of([task]), known=Kinds(), analysis=analysis)
    assert line(found, "columns") == ("day timestamp",)
    assert line(found, "hidden inputs") == ("now in a filter",)
    assert "day >= TIMESTAMP" in found.statement


def test_kinds_survive_the_ledger_and_what_is_not_understood_is_left_out() -> None:
    """What an older or newer version wrote never stops an explanation."""
    kinds = Kinds(target=ColumnKind.DATE, sources={"raw": ColumnKind.STRING})
    assert Kinds.of_document(kinds.document()) == kinds
    assert Kinds.of_document(Kinds().document()) == Kinds()
    assert Kinds.of_document(None) == Kinds()
    assert Kinds.of_document({"target": "colour", "sources": {"raw": 7}}) == Kinds()


def test_filters_exist_only_where_there_is_something_to_bound(make: Maker) -> None:
    """A static source, a task without a window and a whole-table write have no filter."""
    source = make.task(reads=("raw",)).sources[0]
    assert source_bounds(source, None, None) is None
    assert (source_bounds(source, DAY, None) or "").startswith("at >= TIMESTAMP")
    assert (owned_scope(make.task(), DAY, None) or "").startswith("day >= DATE")
    assert owned_scope(make.task(), None, None) is None
    whole = make.task(choice=Choice(write=replace(), reason=""))
    assert owned_scope(whole, DAY, None) is None


def test_a_surrogate_key_is_shown_as_it_is_carried_out(make: Maker) -> None:
    """The statement is the one that Spark gets, not the one that was typed."""
    transform = SqlTransform(
        text="SELECT surrogate_key(a) AS k", statement="SELECT sha2(a) AS k", first_line=1
    )
    found = explain(make.task(transform=transform), DAY, Graph.of([]), known=Kinds())
    assert "sha2(a)" in found.statement
    assert "surrogate_key" not in found.statement
