"""How a rule says what it found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setpoint.auditing.finding import Edit, Finding

if TYPE_CHECKING:
    from setpoint.auditing.facts import Spot
    from setpoint.auditing.rule import Rule
    from setpoint.auditing.world import Case


def found(  # noqa: PLR0917 - the parts of a sentence, in its order
    rule: Rule, case: Case, spot: Spot, message: str, fix: str, edits: tuple[Edit, ...] = ()
) -> Finding:
    """A finding of a rule at a spot of the unit before it."""
    return Finding(
        rule=rule.id,
        severity=rule.severity,
        path=case.file.path,
        line=spot.line,
        end_line=max(spot.line, spot.end_line),
        message=message,
        fix=fix,
        pipeline=case.unit.name,
        edits=edits,
    )


def shown(table: str) -> str:
    """A table's name for a sentence, also when it is not known."""
    return table or "the target"
