"""A plan is data: names and dates resolved to steps, nothing done, dates never from the clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from setpoint.errors import UsageError
from setpoint.model.graph import Graph
from setpoint.model.plan import WHOLE_TABLE, Dates, Plan, make_plan

if TYPE_CHECKING:
    from tests.task_maker import Maker


def steps(plan: Plan) -> list[tuple[str, str]]:
    """Task and window of each step."""
    return [(step.task.name, step.label) for step in plan.steps]


def test_a_date_becomes_the_window_that_it_lies_in(make: Maker) -> None:
    """Each task gets the window of its own grain; a task without windows gets its table."""
    graph = Graph.of(
        [make.task("a"), make.task("b", reads=("a",), grain="month"), make.task("c", grain=None)]
    )
    plan = make_plan(graph, select=[], dates=Dates(ds="2026-04-25"))
    assert steps(plan) == [("a", "2026-04-25"), ("b", "2026-04"), ("c", WHOLE_TABLE)]
    assert plan.notes == ()


@pytest.mark.parametrize(
    ("ds", "grain", "zone", "count", "last"),
    [
        ("2026-04-25", "hour", "UTC", 24, "2026-04-25T23:00Z"),
        ("2026-04-25", "15min", "UTC", 96, "2026-04-25T23:45Z"),
        ("2026-03-29", "hour", "Europe/Berlin", 23, "2026-03-29T23:00+02:00"),
        ("2026-10-25", "hour", "Europe/Berlin", 25, "2026-10-25T23:00+01:00"),
        ("2026-04-25T13:30", "hour", "UTC", 1, "2026-04-25T13:00Z"),
    ],
)
def test_a_date_without_a_time_means_all_of_its_hours(  # noqa: PLR0917
    make: Maker, ds: str, grain: str, zone: str, count: int, last: str
) -> None:
    """A day that is built from hours gets all of them; a time of day names one window."""
    graph = Graph.of(
        [make.task("hours", grain=grain, zone=zone), make.task("days", reads=("hours",), zone=zone)]
    )
    plan = make_plan(graph, select=["days"], dates=Dates(ds=ds))
    names = [name for name, _ in steps(plan)]
    assert names == ["hours"] * count + ["days"]
    assert steps(plan)[-2] == ("hours", last)


def test_a_range_is_half_open_and_in_order(make: Maker) -> None:
    """`--end` is exclusive, and all windows of a task come before what reads it."""
    graph = Graph.of([make.task("b", reads=("a",)), make.task("a")])
    plan = make_plan(graph, select=["b"], dates=Dates(start="2026-04-01", end="2026-04-03"))
    assert steps(plan) == [
        ("a", "2026-04-01"),
        ("a", "2026-04-02"),
        ("b", "2026-04-01"),
        ("b", "2026-04-02"),
    ]
    assert [step.depends_on for step in plan.steps] == [(), (), ("a",), ("a",)]


def test_a_range_that_cuts_windows_is_widened_and_said(make: Maker) -> None:
    """Half a month cannot be set, so the whole one is, in the open."""
    graph = Graph.of([make.task(grain="month")])
    plan = make_plan(graph, select=[], dates=Dates(start="2026-04-10", end="2026-05-02"))
    assert steps(plan) == [("orders", "2026-04"), ("orders", "2026-05")]
    assert plan.notes == ("orders: the range was widened to whole windows, 2026-04 to 2026-05",)


def test_the_development_date_is_used_and_said(make: Maker) -> None:
    """Without a date a fixed historical one is used, never today; many tasks say it once (D5)."""
    graph = Graph.of(make.task(name, development_date="2026-04-25") for name in ("a", "b"))
    plan = make_plan(graph, select=[], dates=Dates())
    assert steps(plan) == [("a", "2026-04-25"), ("b", "2026-04-25")]
    assert plan.notes == ("no date given: using the development date 2026-04-25",)


def test_a_task_without_a_development_date_needs_one(make: Maker) -> None:
    """No date is made up (D5)."""
    with pytest.raises(UsageError, match="orders needs a date") as refusal:
        make_plan(Graph.of([make.task()]), select=[], dates=Dates())
    assert "setpoint run --ds" in (refusal.value.next_step or "")


@pytest.mark.parametrize(
    ("dates", "message"),
    [
        (Dates(ds="2026-04-25", start="2026-04-01"), "exclude each other"),
        (Dates(ds="2026-04-25", end="2026-04-01"), "exclude each other"),
        (Dates(start="2026-04-01"), "go together"),
        (Dates(end="2026-04-01"), "go together"),
        (Dates(start="2026-04-02", end="2026-04-01"), "is not after"),
        (Dates(start="2026-04-01", end="2026-04-01"), "is not after"),
        (Dates(ds="2026-02-30"), "not in the calendar"),
        (Dates(ds="yesterday"), "not a date"),
        (Dates(start="2026-04-01", end="tomorrow"), "not a date"),
    ],
)
def test_dates_that_make_no_window_are_refused(make: Maker, dates: Dates, message: str) -> None:
    """Contradictions, half ranges, backward ranges and what is no date."""
    with pytest.raises(UsageError, match=message):
        make_plan(Graph.of([make.task()]), select=[], dates=dates)


@pytest.mark.parametrize("dates", [Dates(ds=""), Dates(start="", end=""), Dates(start="", end="x")])
def test_an_empty_date_is_not_the_same_as_none(make: Maker, dates: Dates) -> None:
    """`--ds "$DS"` with the variable unset must not run for the development date."""
    graph = Graph.of([make.task(development_date="2026-04-25")])
    assert dates.given
    with pytest.raises(UsageError, match="'' is not a date"):
        make_plan(graph, select=[], dates=dates)


def test_dates_are_those_of_the_grains_zone(make: Maker) -> None:
    """The 25th in Paris begins at 22:00 of the 24th in UTC."""
    graph = Graph.of([make.task(zone="Europe/Paris")])
    (step,) = make_plan(graph, select=[], dates=Dates(ds="2026-04-25")).steps
    assert step.window is not None
    assert step.window.key == "2026-04-24T22:00:00Z/2026-04-25T22:00:00Z"
