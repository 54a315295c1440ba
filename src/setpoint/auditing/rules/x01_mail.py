"""X01: an e-mail that each run sends again."""

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
    id="X01",
    name="unguarded-mail",
    severity=Severity.WARNING,
    what="An e-mail is sent by the pipeline, and nothing remembers that it was sent.",
    why="Every retry and every day of a backfill sends it again.",
    before="""python
server.sendmail(sender, customers, report(ds))""",
    after="""python
if outbox.claim('report', ds):  # once for a task and day
    server.sendmail(sender, customers, report(ds))""",
    ignore_when="The message tells of a failure, or its readers expect one for each attempt.",
)


def judge(case: Case) -> Iterator[Finding]:
    """An e-mail that each run sends again."""
    for effect in effects(case, "mail"):
        yield found(
            RULE,
            case,
            effect.spot,
            f"{effect.text} sends the message again on each run",
            "record the message under a key of task, window and receiver, and send only what is "
            "not recorded",
        )
