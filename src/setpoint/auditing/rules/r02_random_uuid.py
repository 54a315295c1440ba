"""R02: a random UUID as a value of a row."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from setpoint.auditing.facts import Source
from setpoint.auditing.finding import Finding, Severity
from setpoint.auditing.rule import Rule
from setpoint.auditing.rules.drawing import draws
from setpoint.auditing.rules.found import found
from setpoint.auditing.world import lasting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from setpoint.auditing.facts import Draw
    from setpoint.auditing.world import Case

RULE = Rule(
    id="R02",
    name="random-uuid",
    severity=Severity.ERROR,
    what="A row gets a random UUID when it is written, or an object with data gets one in its key.",
    why="The same row has another identity on each run: upserts add instead of replacing, and "
    "references to the old identity are lost. An object under a new key each time lies beside "
    "that of the earlier run, and whoever reads the folder reads both.",
    before="""sql
INSERT INTO dim_customer SELECT gen_random_uuid() AS customer_sk, customer_id FROM customers;""",
    after="""sql
INSERT INTO dim_customer SELECT md5(customer_id) AS customer_sk, customer_id FROM customers;""",
    ignore_when="The identifier names the run itself and no row depends on it; or the object is a "
    "stage that this run loads and removes.",
)


def judge(case: Case) -> Iterator[Finding]:
    """Random UUIDs in rows."""
    roles = {"value", "key", "partition", "audit", "default", "column", "object"}
    for draw in draws(case, Source.UUID, roles):
        if draw.role == "object" and not _stays(case, draw):
            continue
        yield found(
            RULE,
            case,
            draw.spot,
            f"{draw.text} gives {draw.column or _what(draw)} another value on each run",
            "derive it from the business key: a hash of stable columns, or uuid5 of them",
        )


def _what(draw: Draw) -> str:
    return "the object's key" if draw.role == "object" else "the row"


def _stays(case: Case, draw: Draw) -> bool:
    """Whether the object itself is the result; one that is loaded from here is a stage."""
    loaded = any(one.language != "files" and lasting(one) for one in case.unit.writes)
    return not loaded and not re.search(r"(?i)te?mp|stag(?:e|ing)|scratch", draw.table)
