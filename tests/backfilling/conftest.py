"""Requests, plans and standings for tests without Spark."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import pytest
from tests.task_maker import Maker

from setpoint.backfilling.plan import BackfillPlan, make_backfill_plan
from setpoint.backfilling.request import Request
from setpoint.backfilling.selecting import Choice
from setpoint.ledger.backfill import Separability
from setpoint.ledger.record import Standing
from setpoint.model.graph import Graph

if TYPE_CHECKING:
    from collections.abc import Sequence

    from setpoint.ledger.record import RunState
    from setpoint.model.task import Task


def at(text: str) -> datetime:
    """An instant in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=timezone.utc)


def standing(
    day: int, state: RunState = "succeeded", *, fence: int = 1, fingerprint: str = "code-1"
) -> Standing:
    """How a day of April 2026 stands."""
    start, end = at(f"2026-04-{day:02}"), at(f"2026-04-{day + 1:02}")
    return Standing(start.isoformat(), end.isoformat(), state, fingerprint, fence)


def plan_of(
    made: Sequence[Task],
    /,
    *,
    known: Sequence[Standing] = (),
    choice: Choice | None = None,
    separable: bool | None = True,
    **asked: Any,
) -> BackfillPlan:
    """The plan for some tasks, of April 2026 when nothing else is asked."""
    given = {"tasks": (made[-1].name,), "start": "2026-04-01", "end": "2026-04-11"}
    verdicts = {
        task.name: Separability(
            task=task.name, fingerprint="code-1", separable=bool(separable), evidence="as told"
        )
        for task in made
    }
    return make_backfill_plan(
        Graph.of(made),
        Request(**{**given, **asked}),
        standings=lambda _task, _start, _end: known,
        choice=lambda _task: choice or Choice(),
        verdict=lambda task: None if separable is None else verdicts[task.name],
    )


@pytest.fixture(scope="session")
def make() -> Maker:
    """The maker of tasks; it keeps nothing, so one serves all."""
    return Maker()
