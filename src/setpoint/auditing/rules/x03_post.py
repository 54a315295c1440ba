"""X03: an acting HTTP call without an idempotency key."""

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
    id="X03",
    name="unguarded-post",
    severity=Severity.WARNING,
    what="An HTTP call that makes something happen carries no idempotency key.",
    why="A timeout after the receiver acted looks like a failure; the retry makes it happen twice.",
    before="""python
requests.post(f'{API}/charges', json=charge)""",
    after="""python
key = sha256(f'{task}|{ds}|{charge_id}'.encode()).hexdigest()
requests.post(f'{API}/charges', json=charge, headers={'Idempotency-Key': key})""",
    ignore_when="The receiver drops repeats by the content of the request.",
)


def judge(case: Case) -> Iterator[Finding]:
    """An acting HTTP call without an idempotency key."""
    for effect in effects(case, "post"):
        yield found(
            RULE,
            case,
            effect.spot,
            f"{effect.text} acts again on each run",
            "send an Idempotency-Key derived from the task, the window and the business id",
        )
