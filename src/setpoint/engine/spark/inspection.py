"""Inspecting a task's plan before anything is written."""

from __future__ import annotations

import contextlib
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

import time_machine

from setpoint.engine.spark.plan_text import PlanText, hidden_inputs
from setpoint.engine.spark.printing import printed
from setpoint.errors import HiddenInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pyspark.sql import DataFrame

    from setpoint.model.hidden_input import HiddenInputFound
    from setpoint.model.task import Task

# Another year, month, weekday, hour and minute: whatever part of the clock is used, it differs.
SHIFT = timedelta(days=401, hours=5, minutes=17, seconds=41)


def plan_text(frame: DataFrame) -> PlanText:
    """The plan as Spark prints it, cut into its sections."""
    return PlanText.of(printed_plan(frame, "extended"))


def printed_plan(frame: DataFrame, mode: str) -> str:
    """What `explain` prints; the public API has no other way to a plan."""
    return printed(lambda: frame.explain(mode))


def inspect(
    task: Task, first: PlanText, rebuild: Callable[[], DataFrame] | None
) -> tuple[HiddenInputFound, ...]:
    """The hidden inputs of a plan; built again under another clock when `rebuild` is given."""
    second = None
    if rebuild is not None and not _allows(task, "python"):
        with _other_clock():
            second = plan_text(rebuild())
    return hidden_inputs(first, second)


def refuse(task: Task, found: Iterable[HiddenInputFound]) -> list[str]:
    """Raise for what the task does not allow; return what is only worth a warning."""
    refused = [item for item in found if item.refused and not _allows(task, item.function)]
    if refused:
        first = refused[0]
        raise HiddenInput(
            f"the result of {task.name} depends on more than its sources and window: "
            + "; ".join(map(str, refused)),
            facts={"function": first.function, "place": first.place, "fix": first.fix},
            next_step=f"change {task.path}; or, if it is meant, add "
            f'allow=[Allow("{first.function}", "the reason")]',
        )
    return [f"{item}: depends on row order; {item.fix}" for item in found if not item.refused]


def _allows(task: Task, function: str) -> bool:
    return any(allow.function == function for allow in task.allow)


@contextlib.contextmanager
def _other_clock() -> Iterator[None]:
    with time_machine.travel(datetime.now(timezone.utc) + SHIFT, tick=True):
        yield
