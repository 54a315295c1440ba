"""I02: an exception that excuses nothing."""

from __future__ import annotations

from setpoint.auditing.finding import Severity
from setpoint.auditing.rule import Rule

RULE = Rule(
    id="I02",
    name="unused-ignore",
    severity=Severity.WARNING,
    what="An ignore comment matches no finding.",
    why="It would hide the next, different finding on its line without anybody having judged it.",
    before="""sql
-- setpoint: ignore[W01] loaded once
INSERT OVERWRITE events SELECT * FROM queue;""",
    after="""sql
INSERT OVERWRITE events SELECT * FROM queue;""",
    ignore_when="Never: remove the comment.",
)
