"""W04: overwrite at a coarser grain than the schedule."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from setpoint.auditing import naming
from setpoint.auditing.facts import How
from setpoint.auditing.finding import Finding, Severity
from setpoint.auditing.guarding import Outcome, appends
from setpoint.auditing.rule import Rule
from setpoint.auditing.rules.found import found, shown
from setpoint.auditing.sql.grains import RANK
from setpoint.auditing.world import lasting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from setpoint.auditing.facts import Write
    from setpoint.auditing.world import Case

RULE = Rule(
    id="W04",
    name="coarse-overwrite",
    severity=Severity.ERROR,
    what="A pipeline that runs several times a day replaces a whole day's partition each time, or "
    "one that loads a window empties the whole table first.",
    why="Each run destroys what the earlier runs of the same day wrote; only the last hour of each "
    "day survives, and rerunning an old hour destroys the others.",
    before="""python
with DAG("events", schedule="@hourly"):
    load = HiveOperator(task_id="load", hql=\"\"\"
        INSERT OVERWRITE TABLE events PARTITION (dt = '{{ ds }}')
        SELECT … WHERE ts >= '{{ data_interval_start }}'\"\"\")""",
    after="""python
with DAG("events", schedule="@hourly"):
    load = HiveOperator(task_id="load", hql=\"\"\"
        INSERT OVERWRITE TABLE events PARTITION (dt = '{{ ds }}', hour = '{{ logical_date.hour }}')
        SELECT … WHERE ts >= '{{ data_interval_start }}'\"\"\")""",
    ignore_when="Every run recomputes the whole day from its first hour on.",
)


def judge(case: Case) -> Iterator[Finding]:
    """Overwrites of a day by a task that runs more often, of a table by one that loads a day."""
    yield from _emptied(case)
    dag = case.world.dag_of(case.file, case.unit)
    grain = dag.grain if dag is not None and dag.grain else case.unit.grain
    if grain not in RANK:
        return
    ran = case.world.file_of(case.unit)
    for write in (*case.unit.writes, *(ran.writes if ran is not None else ())):
        replaces = write.how in {How.OVERWRITE, How.DYNAMIC, How.DELETE} and not write.retention
        if replaces and lasting(write) and _is_coarser(write, grain):
            spot = write.spot if write in case.unit.writes else case.unit_spot
            yield found(
                RULE,
                case,
                spot,
                f"runs every {grain} but replaces a whole {write.grain} of {shown(write.table)}",
                "partition and filter by the run's own hour, or schedule the DAG @daily",
            )


def _is_coarser(write: Write, grain: str) -> bool:
    if RANK.get(write.grain, 0) <= RANK[grain]:
        return False
    # A query over the whole partition computes it anew each time.
    return RANK.get(write.source_grain, 0) < RANK[write.grain]


_LATEST = frozenset(
    {
        "stg", "stage", "staging", "tmp", "temp", "landing", "work", "wrk", "latest", "current",
        "today", "delta", "buffer", "queue", "in", "inbox", "load", "raw", "src", "last",
    }
)  # fmt: skip
"""Words in the names of tables that are meant to hold one run's rows only."""
_GIVEN = re.compile(r"__h\d|(?<!:):[a-z]|%\(|@[a-z]|\?")


def _emptied(case: Case) -> Iterator[Finding]:
    """Deletes of a whole table whose insert brings back one window."""
    for append in appends(case):
        write, delete = append.write, append.delete
        if append.outcome is not Outcome.GUARDED or delete is None or delete.how is not How.DELETE:
            continue
        one_run = write.source_grain and _GIVEN.search(write.source_filter)
        if one_run and not naming.words(write.table) & _LATEST:
            spot = delete.spot if delete in case.unit.writes else write.spot
            yield found(
                RULE,
                case,
                spot,
                f"empties all of {shown(write.table)} and loads one {write.source_grain}: "
                "the rows of every other run are gone",
                f"delete the window's rows only: DELETE FROM {shown(write.table)} WHERE …",
            )
