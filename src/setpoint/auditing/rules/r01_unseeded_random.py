"""R01: randomness without a seed in data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setpoint.auditing.facts import Source
from setpoint.auditing.finding import Edit, Finding, Severity
from setpoint.auditing.rule import Rule
from setpoint.auditing.rules.drawing import draws
from setpoint.auditing.rules.found import found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from setpoint.auditing.facts import Draw
    from setpoint.auditing.world import Case

RULE = Rule(
    id="R01",
    name="unseeded-random",
    severity=Severity.ERROR,
    what="An unseeded random value decides rows or values that are written.",
    why="No two runs give the same rows, so nothing can be compared, repaired or repeated.",
    before="""sql
CREATE TABLE sample AS SELECT * FROM orders ORDER BY random() LIMIT 1000;""",
    after="""sql
CREATE TABLE sample AS SELECT * FROM orders ORDER BY md5(order_id || 'sample-1') LIMIT 1000;""",
    ignore_when="The data is made up for a test or a demonstration.",
)


def judge(case: Case) -> Iterator[Finding]:
    """Random values in data."""
    roles = {
        "filter",
        "join",
        "order",
        "value",
        "key",
        "partition",
        "limit",
        "window",
        "source",
        "name",
    }
    for draw in draws(case, Source.RANDOM, roles):
        yield found(
            RULE,
            case,
            draw.spot,
            f"{draw.text} has no seed: no two runs give the same rows",
            "seed it with a constant, or order by a hash of the key",
            _edits(draw),
        )


def _edits(draw: Draw) -> tuple[Edit, ...]:
    """`F.rand()` takes its seed as the only argument: the one case where a seed fits anywhere."""
    known = draw.language == "spark" and draw.text in {"rand()", "randn()"}
    if not known or draw.spot.end < 1:
        return ()
    at = draw.spot.end - 1
    return (Edit(start=at, end=at, text="0"),)
