"""The checks: what each one does, and the question that it answers."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from setpoint.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, kw_only=True)
class Check:
    """One question that a verification asks."""

    name: str
    question: str
    project: bool = True
    """Asked of a task of a project."""
    command: bool = True
    """Asked of a command from outside."""


CHECKS = (
    Check(
        name="plan",
        question="does the query depend on nothing but its sources and its window?",
        command=False,
    ),
    Check(
        name="text",
        question="does its code show none of the faults that runs here cannot show?",
        project=False,
    ),
    Check(name="two", question="do two runs leave the same rows?"),
    Check(name="ten", question="do ten runs leave the same rows?"),
    Check(name="crash", question="does a run that died and was tried again leave the same rows?"),
    Check(name="readers", question="do readers see old rows or new ones only?", project=False),
    Check(name="neighbours", question="do the rows of other windows stay as they are?"),
    Check(name="order", question="do windows give the same table in any order?"),
    Check(
        name="batch",
        question="do several windows at once give the rows of each alone?",
        command=False,
    ),
    Check(name="month", question="is a date of a month ago set, not added, when it runs again?"),
    Check(name="clock", question="do the rows stay the same on another day, in another zone?"),
    Check(
        name="partitioning",
        question="do the rows stay the same when Spark orders and divides its input otherwise?",
        command=False,
    ),
    Check(name="environment", question="do locale, TZ, hash seed and variables decide no row?"),
    Check(name="effects", question="does the second run send nothing?"),
)
"""Every check, in the order in which a report shows them."""

NAMED = {check.name: check for check in CHECKS}


def chosen_checks(names: Sequence[str], *, command: bool) -> tuple[str, ...]:
    """The names of the checks to make: all that apply when none are named."""
    fitting = [check.name for check in CHECKS if (check.command if command else check.project)]
    wanted = [name.strip() for text in names for name in text.split(",") if name.strip()]
    for name in wanted:
        if name not in fitting:
            near = difflib.get_close_matches(name, fitting, n=1)
            known = name in NAMED
            raise UsageError(
                f"the check {name} is not one for {'a command' if command else 'a task'}"
                if known
                else f"there is no check {name!r}",
                next_step=f"--checks {near[0]}" if near else f"known: {', '.join(fitting)}",
            )
    return tuple(name for name in fitting if not wanted or name in wanted)
