"""T02: a clock decides where rows are put."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setpoint.auditing.facts import Source
from setpoint.auditing.finding import Finding, Severity
from setpoint.auditing.rule import Rule
from setpoint.auditing.rules.drawing import draws
from setpoint.auditing.rules.found import found, shown
from setpoint.auditing.rules.rewrites import clock_rewrite

if TYPE_CHECKING:
    from collections.abc import Iterator

    from setpoint.auditing.world import Case

RULE = Rule(
    id="T02",
    name="clock-placement",
    severity=Severity.ERROR,
    what="The clock is the value of a partition or key, or part of a path, file or table name, "
    "or the "
    "default of a column that decides where a row lies.",
    why="A rerun after midnight puts the same rows in another place, so that they exist twice; a "
    "backfill puts all its days in today's.",
    before="""python
df.withColumn("ds", F.current_date()).write.partitionBy("ds").mode("overwrite").save(path)""",
    after="""python
df.withColumn("ds", F.lit(ds).cast("date")).write.partitionBy("ds").mode("overwrite").save(path)""",
    ignore_when="Each run is meant to leave its own dated copy, and no reader takes them together.",
)


def judge(case: Case) -> Iterator[Finding]:
    """Clocks that decide placement."""
    if case.file.setting in {"pipeline", "schema"}:
        for draw in case.unit.draws:
            if draw.source is Source.CLOCK and draw.role == "default-partition":
                yield found(
                    RULE,
                    case,
                    draw.spot,
                    f"{draw.text} is the default of the partition {draw.column}: a reload moves "
                    f"rows",
                    "no default: the load says the date that each row belongs to",
                )
    windows = {one.spot for one in case.unit.draws if one.role in {"window", "filter", "request"}}
    for draw in draws(case, Source.CLOCK, {"partition", "key", "name", "path"}):
        if draw.spot in windows:
            continue
        where = draw.column or shown(draw.table)
        yield found(
            RULE,
            case,
            draw.spot,
            f"{draw.text} decides where rows lie ({where}): a rerun puts them elsewhere",
            clock_rewrite(draw),
        )
