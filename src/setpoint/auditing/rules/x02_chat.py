"""X02: a chat post that each run repeats."""

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
    id="X02",
    name="unguarded-chat",
    severity=Severity.WARNING,
    what="A message is posted to a chat by the pipeline, and nothing remembers that it was posted.",
    why="Every retry and every day of a backfill posts it again.",
    before="""python
slack.chat_postMessage(channel='#revenue', text=summary(ds))""",
    after="""python
if outbox.claim('revenue-post', ds):  # once for a task and day
    slack.chat_postMessage(channel='#revenue', text=summary(ds))""",
    ignore_when="The message tells of a failure, or its readers expect one for each attempt.",
)


def judge(case: Case) -> Iterator[Finding]:
    """A chat post that each run repeats."""
    for effect in effects(case, "chat"):
        yield found(
            RULE,
            case,
            effect.spot,
            f"{effect.text} posts the message again on each run",
            "record the post under a key of task and window, and post only what is not recorded",
        )
