"""W07: a counter raised by its own old value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setpoint.auditing.finding import Finding, Severity
from setpoint.auditing.rule import Rule
from setpoint.auditing.rules.found import found, shown
from setpoint.auditing.world import lasting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from setpoint.auditing.world import Case

RULE = Rule(
    id="W07",
    name="counter",
    severity=Severity.ERROR,
    what="A column is set from its own old value: `x = x + …`.",
    why="Every repetition counts again. After a retry the stock is two lower, the balance twice "
    "higher, and no row looks wrong.",
    before="""sql
UPDATE stock SET qty = qty - s.sold FROM sales s WHERE stock.sku = s.sku;""",
    after="""sql
-- adjustments keyed by (sku, day), replaced for the day; the level is derived
UPDATE stock SET qty = opening
  - (SELECT coalesce(sum(sold), 0) FROM adjustments a WHERE a.sku = stock.sku);""",
    ignore_when="The same transaction records the id of what was applied and refuses it a "
    "second time.",
)


def judge(case: Case) -> Iterator[Finding]:
    """Updates that count."""
    if case.file.setting != "pipeline":
        return
    for write in case.unit.writes:
        if write.counter and not write.guard and lasting(write):
            yield found(
                RULE,
                case,
                write.spot,
                f"{shown(write.table)}.{write.counter} is raised by its own old value: every "
                f"run counts again",
                f"keep the changes as rows keyed by a deterministic id, and derive "
                f"{write.counter} from them",
            )
