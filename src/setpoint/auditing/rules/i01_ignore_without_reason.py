"""I01: an exception that says no reason."""

from __future__ import annotations

from setpoint.auditing.finding import Severity
from setpoint.auditing.rule import Rule

RULE = Rule(
    id="I01",
    name="ignore-without-reason",
    severity=Severity.ERROR,
    what="An ignore comment gives no reason.",
    why="Exceptions are justified in writing, or the next reader cannot tell a decision from a "
    "dodge.",
    before="""sql
INSERT INTO events SELECT * FROM queue; -- setpoint: ignore[W01]""",
    after="""sql
INSERT INTO events SELECT * FROM queue; -- setpoint: ignore[W01] the queue deletes what was read""",
    ignore_when="Never.",
)
