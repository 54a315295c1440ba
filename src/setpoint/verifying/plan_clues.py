"""What the plan of a task tells of the likely cause. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from setpoint.verifying.cause import UUID, Clue

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from setpoint.model.hidden_input import HiddenInputFound

CLOCKS = ("current_date", "current_timestamp", "now", "localtimestamp", "current_time")
NUMBERED = ("monotonically_increasing_id", "spark_partition_id", "input_file_name")
ORDER = ("first", "last", "any_value", "collect_list", "collect_set")
BECAME = re.compile(r"^(\S+(?: \d\d:\d\d:\S+)?) became (\S+(?: \d\d:\d\d:\S+)?) when")
LIKELY = ("clock", "uuid", "chance", "environment", "hash order", "state")
"""What makes a literal of the plan differ between two builds, the likeliest first."""


def plan_clues(
    hidden: Iterable[HiddenInputFound], code: Sequence[Clue], *, path: str
) -> list[Clue]:
    """A clue for each hidden input of a plan, with the line of code that it stands in."""
    return [_clue(found, code, path) for found in hidden]


def _clue(found: HiddenInputFound, code: Sequence[Clue], path: str) -> Clue:
    kind = _kind(found, code)
    same = [clue for clue in code if clue.kind == kind]
    exact = [clue for clue in same if clue.words.startswith(found.function)]
    where = next((clue.where for clue in [*exact, *same]), path)
    named = "Python code" if found.function == "python" else found.function
    column = found.place.removeprefix("column ") if found.place.startswith("column ") else None
    return Clue(
        kind=kind, words=f"{named} in {found.place}", column=column, where=where, fix=found.fix
    )


def _kind(found: HiddenInputFound, code: Sequence[Clue]) -> str:
    if found.function in CLOCKS:
        return "clock"
    if found.function == "uuid":
        return "uuid"
    if found.function in NUMBERED or found.function in ORDER:
        return "row order"
    if found.function != "python":
        return "chance"
    became = BECAME.match(found.fix)
    if became and UUID.fullmatch(became[1]):
        return "uuid"
    kinds = {clue.kind for clue in code}
    return next((kind for kind in LIKELY if kind in kinds), "clock")
