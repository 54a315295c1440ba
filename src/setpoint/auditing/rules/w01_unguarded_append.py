"""W01: an append that a second run repeats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setpoint.auditing.finding import Finding, Severity
from setpoint.auditing.guarding import Outcome, appends
from setpoint.auditing.rule import Rule
from setpoint.auditing.rules.found import found, shown
from setpoint.auditing.rules.rewrites import append_rewrite

if TYPE_CHECKING:
    from collections.abc import Iterator

    from setpoint.auditing.world import Case

RULE = Rule(
    id="W01",
    name="unguarded-append",
    severity=Severity.ERROR,
    what="Rows are added to a table, and nothing before or in the statement keeps a second run "
    "from adding them again.",
    why="A retry after a half-finished run, a rerun by hand and a backfill each add the same rows "
    "once more. Every row is valid, so no check on single rows notices.",
    before="""sql
INSERT INTO shop.revenue_daily
SELECT order_date, region, sum(amount) FROM shop.orders
WHERE order_date = :ds GROUP BY 1, 2;""",
    after="""sql
BEGIN;
DELETE FROM shop.revenue_daily WHERE order_date = :ds;
INSERT INTO shop.revenue_daily
SELECT order_date, region, sum(amount) FROM shop.orders
WHERE order_date = :ds GROUP BY 1, 2;
COMMIT;""",
    ignore_when="The target is an append-only log whose readers reduce it to one row a key, or "
    "the source hands out each row exactly once (a queue that deletes what was read).",
)


def judge(case: Case) -> Iterator[Finding]:
    """The appends that a second run doubles."""
    for append in appends(case):
        write = append.write
        if append.outcome is Outcome.DOUBLED and not write.batched:
            yield found(
                RULE,
                case,
                write.spot,
                f"a second run adds the same rows to {shown(write.table)} again",
                append_rewrite(write),
            )
