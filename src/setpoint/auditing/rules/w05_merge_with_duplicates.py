"""W05: MERGE from a source that may hold a key twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setpoint.auditing.facts import How
from setpoint.auditing.finding import Finding, Severity
from setpoint.auditing.rule import Rule
from setpoint.auditing.rules.found import found, shown
from setpoint.auditing.world import lasting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from setpoint.auditing.facts import Write
    from setpoint.auditing.world import Case

RULE = Rule(
    id="W05",
    name="merge-with-duplicates",
    severity=Severity.WARNING,
    what="The source of a MERGE is not reduced to one row a key.",
    why="With two source rows for one key some engines fail, some take either row, and on the "
    "first "
    "load both are inserted: the result depends on the order of rows.",
    before="""sql
MERGE INTO dim_customer t USING changes s ON t.customer_id = s.customer_id
WHEN MATCHED THEN UPDATE SET city = s.city
WHEN NOT MATCHED THEN INSERT (customer_id, city) VALUES (s.customer_id, s.city);""",
    after="""sql
MERGE INTO dim_customer t USING (
  SELECT * FROM changes
  QUALIFY row_number() OVER (PARTITION BY customer_id ORDER BY version DESC) = 1
) s ON t.customer_id = s.customer_id
WHEN MATCHED AND s.version > t.version THEN UPDATE SET city = s.city, version = s.version
WHEN NOT MATCHED THEN INSERT (customer_id, city, version)
  VALUES (s.customer_id, s.city, s.version);""",
    ignore_when="The source has a unique constraint on the key.",
)


def judge(case: Case) -> Iterator[Finding]:
    """Merges whose source may hold a key twice."""
    if case.file.setting != "pipeline":
        return
    for write in case.unit.writes:
        if write.how is How.MERGE and not write.reduced and lasting(write):
            yield found(
                RULE,
                case,
                write.spot,
                f"nothing reduces the source of the merge into {shown(write.table)} to one row "
                f"a key",
                _fix(write),
            )


def _fix(write: Write) -> str:
    keys = ", ".join(write.keys) or "<key>"
    if write.language == "spark":
        return (
            f"source.dropDuplicates([{keys}]) after ordering by a version, or row_number() "
            f"over the key = 1"
        )
    if write.dialect in {"tsql", "postgres", "oracle"}:
        return (
            f"USING (SELECT * FROM (SELECT s.*, row_number() OVER (PARTITION BY {keys} ORDER BY "
            f"<version> DESC) AS rn "
            "FROM source s) x WHERE rn = 1)"
        )
    return (
        f"USING (SELECT * FROM source QUALIFY row_number() OVER (PARTITION BY {keys} ORDER "
        f"BY <version> DESC) = 1)"
    )
