"""X04: a published message without a key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setpoint.auditing.finding import Finding, Severity
from setpoint.auditing.rule import Rule
from setpoint.auditing.rules.acting import effects
from setpoint.auditing.rules.found import found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from setpoint.auditing.world import Case

RULE = Rule(
    id="X04",
    name="unguarded-publish",
    severity=Severity.WARNING,
    what="A message is published without a key or anything else by which a consumer could drop "
    "a repeat.",
    why="Delivery is at least once and so is the pipeline: consumers count repeats as new events.",
    before="""python
producer.send('orders', value=payload)""",
    after="""python
producer.send('orders', key=order_id.encode(), value=payload)""",
    ignore_when="The payload itself holds an identifier that all consumers use.",
)


def judge(case: Case) -> Iterator[Finding]:
    """A published message without a key."""
    for effect in effects(case, "publish"):
        yield found(
            RULE,
            case,
            effect.spot,
            f"{effect.text} publishes without a key: a repeat looks like a new message",
            "give each message a key from the business id and the window, and let consumers "
            "drop what they saw",
        )
