"""W06: merge or upsert on a key that does not last."""

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
    id="W06",
    name="weak-key",
    severity=Severity.ERROR,
    what="A merge, upsert or incremental model matches rows on a column that changes, is "
    "random, is "
    "the moment of the load, or on nothing at all.",
    why="When the e-mail address of a customer changes, the old row stays and a new one is "
    "added. A "
    "key that no second run can give again makes an upsert an append.",
    before="""sql
MERGE INTO dim_customer t USING changes s ON t.email = s.email …""",
    after="""sql
MERGE INTO dim_customer t USING changes s ON t.customer_id = s.customer_id …""",
    ignore_when="The column is fixed by contract for the life of the entity.",
)


def judge(case: Case) -> Iterator[Finding]:
    """Merges and upserts whose key does not last."""
    if case.file.setting not in {"pipeline", "schema"}:
        return
    for write in case.unit.writes:
        keyed = write.how in {How.MERGE, How.UPSERT}
        if keyed and write.key_problem and lasting(write) and case.file.setting == "pipeline":
            yield found(
                RULE,
                case,
                write.spot,
                f"the key of {shown(write.table)} does not last: {write.key_problem}",
                "match on the entity's own identifier, or on a hash of columns that never change",
            )
