"""Which pipelines feed a table, through SQL tables and dbt references."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setpoint.auditing.naming import same_table

if TYPE_CHECKING:
    from setpoint.auditing.finding import Pipeline, Report


def upstream(report: Report, table: str) -> set[Pipeline]:
    """The pipelines that write the table, and all that write what those read.

    Names match when one is a dotted suffix of the other, so `revenue` finds `lake.shop.revenue`.
    """
    writers: dict[str, set[Pipeline]] = {}
    for pipeline in report.pipelines:
        for name in pipeline.writes:
            writers.setdefault(name.rsplit(".", 1)[-1], set()).add(pipeline)
    found: set[Pipeline] = set()
    wanted = [table.lower()]
    asked: set[str] = set()
    while wanted:
        name = wanted.pop()
        if name in asked:
            continue
        asked.add(name)
        for pipeline in writers.get(name.rsplit(".", 1)[-1], ()):
            if any(same_table(name, other) for other in pipeline.writes) and pipeline not in found:
                found.add(pipeline)
                wanted.extend(pipeline.reads)
    return found
