"""T05: a clock that only stamps rows."""

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
    id="T05",
    name="clock-audit",
    severity=Severity.NOTE,
    what="The clock fills a column that only says when a row was written, or a value computed "
    "from it.",
    why="Harmless for the rows, but two runs never have the same checksum: leave the column out of "
    "comparisons, or take the run's own time.",
    before="""sql
SELECT order_id, amount, current_timestamp AS loaded_at FROM orders;""",
    after="""sql
SELECT order_id, amount, :logical_date AS loaded_at FROM orders;""",
    ignore_when="Always, unless runs are compared by checksum.",
)


def judge(case: Case) -> Iterator[Finding]:
    """Clocks that stamp rows."""
    for draw in draws(case, Source.CLOCK, {"audit", "value"}):
        yield found(
            RULE,
            case,
            draw.spot,
            f"{draw.text} fills {draw.column or 'a value'}: two runs differ in it",
            "leave the column out of checksums, or fill it from the run's logical date",
        )
