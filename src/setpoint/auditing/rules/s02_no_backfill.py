"""S02: a schedule that cannot be caught up or backfilled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setpoint.auditing.finding import Finding, Severity
from setpoint.auditing.rule import Rule
from setpoint.auditing.rules.found import found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from setpoint.auditing.facts import Dag
    from setpoint.auditing.world import Case

RULE = Rule(
    id="S02",
    name="no-backfill",
    severity=Severity.WARNING,
    what="A DAG catches up or starts at a moving date, but its code ignores the date that a run "
    "is for.",
    why="Catching up a month then does the same work thirty times, for today; with a start date "
    "that "
    "moves, past dates cannot be run at all.",
    before="""python
DAG("orders", schedule="@daily", start_date=datetime.now(), catchup=True)""",
    after="""python
DAG("orders", schedule="@daily", start_date=datetime(2026, 1, 1, tzinfo=timezone.utc), catchup=True)
# and tasks that use {{ ds }}""",
    ignore_when="The DAG is triggered by hand only.",
)


def judge(case: Case) -> Iterator[Finding]:
    """Judged once a DAG, before its first unit."""
    for dag in case.file.dags:
        if not _is_first(case, dag):
            continue
        if dag.moving_start is not None:
            yield found(
                RULE,
                case,
                dag.moving_start,
                f"the start date of {dag.name} moves with the clock: past dates cannot be run",
                "a fixed start_date, such as datetime(2026, 1, 1, tzinfo=timezone.utc)",
            )
        elif dag.catchup and not _uses_date(case, dag) and _moves_data(case, dag):
            yield found(
                RULE,
                case,
                dag.catchup_spot or dag.spot,
                f"{dag.name} catches up past runs, but no task uses the date that a run is for",
                "use {{ ds }} or data_interval_start in the tasks, or catchup=False",
            )


def _is_first(case: Case, dag: Dag) -> bool:
    units = [unit for unit in case.file.units if unit.dag == dag.name] or list(case.file.units)
    return bool(units) and units[0] is case.unit


def _uses_date(case: Case, dag: Dag) -> bool:
    for unit in case.file.units:
        if unit.dag in {dag.name, ""}:
            ran = case.world.file_of(unit)
            if unit.logical_date or (ran is not None and ran.logical_date):
                return True
    return False


def _moves_data(case: Case, dag: Dag) -> bool:
    return any(
        unit.writes or unit.reads or unit.extracts
        for unit in case.file.units
        if unit.dag in {dag.name, ""}
    )
