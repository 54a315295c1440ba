"""T03: a clock is stored as the next run's starting point."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setpoint.auditing.facts import Source
from setpoint.auditing.finding import Finding, Severity
from setpoint.auditing.rule import Rule
from setpoint.auditing.rules.drawing import draws
from setpoint.auditing.rules.found import found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from setpoint.auditing.world import Case

RULE = Rule(
    id="T03",
    name="clock-cursor",
    severity=Severity.ERROR,
    what="A cursor or watermark is stored from the clock instead of from the data that was read.",
    why="Rows that arrive between the read and the stored time, or late, are never read. After a "
    "crash or on a second machine the cursor says that work was done which was not.",
    before="""sql
UPDATE etl_control SET last_run = now() WHERE job = 'orders';""",
    after="""sql
UPDATE etl_control SET last_run = :window_end WHERE job = 'orders';""",
    ignore_when="The value is only shown to people and no run starts from it.",
)


def judge(case: Case) -> Iterator[Finding]:
    """Clocks that are stored as cursors."""
    for draw in draws(case, Source.CLOCK, {"cursor"}):
        yield found(
            RULE,
            case,
            draw.spot,
            f"{draw.text} is stored as the point to go on from: rows that came meanwhile are "
            f"skipped",
            "store the end of the window that was read, or the highest event time seen in the data",
        )
