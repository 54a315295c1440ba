"""T04: Python's clock decides which data a pipeline reads or writes."""

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
    id="T04",
    name="clock-window",
    severity=Severity.ERROR,
    what="A date from Python's clock (`datetime.now()`, `date.today()`, `days_ago`) decides "
    "which data "
    "is read or written.",
    why="The orchestrator knows the date that a run is for; the clock only knows when it "
    "happens to "
    "run. A retry after midnight, a rerun and a backfill then work on the wrong day.",
    before="""python
day = date.today() - timedelta(days=1)
cursor.execute("INSERT INTO daily SELECT … WHERE day = %s", [day])""",
    after="""python
def load(ds):  # the orchestrator's logical date
    cursor.execute("INSERT INTO daily SELECT … WHERE day = %s", [ds])""",
    ignore_when="The pipeline is meant to look at now only, and is never rerun for a past date.",
)


def judge(case: Case) -> Iterator[Finding]:
    """Python clocks that decide a window."""
    for draw in draws(case, Source.CLOCK, {"window", "filter", "join", "limit", "request"}):
        if draw.language != "python" and draw.role != "request":
            continue
        yield found(
            RULE,
            case,
            draw.spot,
            f"{draw.text} decides which data is read or written, not the date that the run is for",
            clock_rewrite(draw),
        )
