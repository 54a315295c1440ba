"""R04: a surrogate key counted over the data."""

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
    id="R04",
    name="row-number-key",
    severity=Severity.WARNING,
    what="A surrogate key is the number of the row in the result.",
    why="One more row, or ties in another order, and every key after it shifts: facts point to "
    "other "
    "dimensions than yesterday.",
    before="""sql
SELECT row_number() OVER (ORDER BY customer_name) AS customer_key, * FROM customers;""",
    after="""sql
SELECT md5(customer_id) AS customer_key, * FROM customers;""",
    ignore_when="The whole star is rebuilt together each time and nobody keeps the keys.",
)


def judge(case: Case) -> Iterator[Finding]:
    """Row numbers that serve as keys."""
    for draw in draws(case, Source.ROW_NUMBER, {"key"}):
        yield found(
            RULE,
            case,
            draw.spot,
            f"{draw.column} is the row's number in this result: it shifts when rows are added",
            "derive the key from the business key: a hash of stable columns",
        )
