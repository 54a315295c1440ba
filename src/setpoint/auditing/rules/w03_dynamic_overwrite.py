"""W03: dynamic partition overwrite."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setpoint.auditing.facts import How
from setpoint.auditing.finding import Finding, Severity
from setpoint.auditing.rule import Rule
from setpoint.auditing.rules.found import found, shown
from setpoint.auditing.world import lasting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from setpoint.auditing.world import Case

RULE = Rule(
    id="W03",
    name="dynamic-overwrite",
    severity=Severity.WARNING,
    what="The partitions to replace are taken from the result instead of being named.",
    why="A day whose rows were all deleted at the source has no row in the result, so its old "
    "partition stays: the rerun looks right and is not. On a table that lost its partitioning the "
    "same write replaces everything.",
    before="""python
spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
df.write.mode("overwrite").insertInto("lake.revenue_daily")""",
    after="""python
df.writeTo("lake.revenue_daily").overwrite(F.col("order_date") == ds)""",
    ignore_when="The source never loses all rows of a partition, and the table's partitioning is "
    "held fixed.",
)


def judge(case: Case) -> Iterator[Finding]:
    """Overwrites whose partitions the result decides."""
    if case.file.setting != "pipeline":
        return
    for write in case.unit.writes:
        if write.how is How.DYNAMIC and lasting(write):
            yield found(
                RULE,
                case,
                write.spot,
                f"a partition of {shown(write.table)} that became empty keeps its old rows",
                _fix(write.language, shown(write.table)),
            )


def _fix(language: str, table: str) -> str:
    if language == "dbt":
        return (
            "name the partitions of the run: partitions=[…] from the run's date, or strategy "
            "microbatch"
        )
    if language == "sql":
        return (
            f"INSERT OVERWRITE {table} PARTITION (<date column> = :ds) SELECT … without that column"
        )
    return (
        f'df.writeTo("{table}").overwrite(F.col("<date column>") == ds), or replaceWhere on Delta'
    )
