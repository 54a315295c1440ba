"""E01: an environment variable decides rows."""

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
    id="E01",
    name="environment",
    severity=Severity.WARNING,
    what="The value of an environment variable flows into a filter, a date or a limit.",
    why="The run's result then depends on the machine and the moment, and nothing records with "
    "which "
    "value it ran.",
    before="""python
days = os.environ["LOOKBACK_DAYS"]
spark.sql(f"INSERT OVERWRITE t SELECT * FROM s WHERE day >= date_sub('{ds}', {days})")""",
    after="""python
def load(ds: str, lookback_days: int = 3): ...  # stated in the task, recorded with the run""",
    ignore_when="The variable is set by the orchestrator for each run and recorded by it.",
)


def judge(case: Case) -> Iterator[Finding]:
    """Environment variables that decide rows."""
    for draw in draws(
        case, Source.ENVIRONMENT, {"filter", "window", "limit", "join", "partition", "request"}
    ):
        yield found(
            RULE,
            case,
            draw.spot,
            f"the environment variable {draw.text} decides which rows are taken",
            "make it a parameter of the task, with its value recorded for each run",
        )
