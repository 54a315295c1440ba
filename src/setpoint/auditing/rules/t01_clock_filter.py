"""T01: a clock decides which rows a written statement sees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setpoint.auditing.facts import Source
from setpoint.auditing.finding import Finding, Severity
from setpoint.auditing.rule import Rule
from setpoint.auditing.rules.drawing import draws
from setpoint.auditing.rules.found import found
from setpoint.auditing.rules.rewrites import clock_rewrite

if TYPE_CHECKING:
    from collections.abc import Iterator

    from setpoint.auditing.world import Case

RULE = Rule(
    id="T01",
    name="clock-filter",
    severity=Severity.ERROR,
    what="The clock stands in a row filter or join of a statement, model or frame that is written.",
    why="Run for an old date, or an hour later, the same code reads other rows. A rerun does not "
    "repeat the run, and a backfill writes today's rows under every date.",
    before="""sql
INSERT OVERWRITE revenue_daily SELECT … FROM orders WHERE order_date = current_date - 1;""",
    after="""sql
INSERT OVERWRITE revenue_daily SELECT … FROM orders WHERE order_date = :ds;""",
    ignore_when="The model is meant to say how things stand now, and nobody compares its runs.",
)


def judge(case: Case) -> Iterator[Finding]:
    """Clocks in filters and joins."""
    for draw in draws(case, Source.CLOCK, {"filter", "join"}):
        if draw.language == "python":
            continue
        yield found(
            RULE,
            case,
            draw.spot,
            f"{draw.text} decides which rows are taken: the same run on another day gives others",
            clock_rewrite(draw),
        )
