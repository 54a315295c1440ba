"""S01: automatic retries of a task that is not safe to repeat."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setpoint.auditing.facts import Spot
from setpoint.auditing.finding import Finding, Severity
from setpoint.auditing.rule import Rule
from setpoint.auditing.rules.found import found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from setpoint.auditing.world import Case

RULE = Rule(
    id="S01",
    name="unsafe-retries",
    severity=Severity.ERROR,
    what="A task is retried automatically although it holds a write or an effect that is not "
    "safe to "
    "repeat.",
    why="The retry does by itself, at night, what the finding says a second run does.",
    before="""python
PythonOperator(task_id="load", python_callable=append_orders, retries=3)""",
    after="""python
PythonOperator(task_id="load", python_callable=replace_orders_of_the_day, retries=3)""",
    ignore_when="The task cannot fail after its write.",
)
_HARMFUL = frozenset({"W01", "W02", "W05", "W07", "W09", "X01", "X02", "X03", "X04", "R02"})


def judge(case: Case) -> Iterator[Finding]:
    """Retries of tasks in which something unsafe was found."""
    unit = case.unit
    if unit.retries < 1:
        return
    ran = case.of_files.get(case.world.path_of(unit), ())
    harmful = sorted({one.rule for one in (*case.findings, *ran) if one.rule in _HARMFUL})
    if not harmful:
        return
    spot = unit.retries_spot or Spot(line=unit.line, end_line=unit.line)
    yield found(
        RULE,
        case,
        spot,
        f"{unit.name} is retried {unit.retries} times although it is not safe to repeat "
        f"({', '.join(harmful)})",
        "make the task safe to repeat first; until then retries=0",
    )
