"""The hidden inputs of a unit that a rule may speak of."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from setpoint.auditing import naming
from setpoint.auditing.facts import How, Source
from setpoint.auditing.world import lasting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from setpoint.auditing.facts import Draw, Write
    from setpoint.auditing.world import Case

_ROW_WORDS = re.compile(
    r"date|day|start|end|since|until|limit|look_?back|window|hour|month|year|week|cutoff|sample"
    r"|top_?n|threshold|from|period|batch_?size|max_rows",
    re.IGNORECASE,
)


def draws(case: Case, source: Source, roles: set[str]) -> Iterator[Draw]:
    """The draws of one source in some roles, where they decide data that lasts."""
    stores = "cursor" in roles and case.file.setting == "pipeline"
    if not stores and not case.is_pipeline:
        return
    for draw in case.unit.draws:
        if draw.source is not source or draw.role not in roles:
            continue
        if draw.table and not _lasts(case, draw):
            continue
        if (
            draw.role == "request"
            and source is not Source.CLOCK
            and not _ROW_WORDS.search(draw.text)
        ):
            continue
        if source is Source.UUID and draw.role == "default":
            continue
        yield draw


def _lasts(case: Case, draw: Draw) -> bool:
    if draw.role == "cursor":
        return True
    if naming.is_log_table(draw.table):
        return False
    if naming.is_temporary_table(draw.table):
        # What filters a temporary table filters the lasting one that is filled from it.
        return draw.role in {"filter", "join"} and any(lasting(one) for one in case.unit.writes)
    own = [one for one in case.unit.writes if naming.same_table(one.table, draw.table)]
    deletes = [one for one in own if one.how is How.DELETE]
    if deletes and len(deletes) == len(own):
        # Only deleted from here: housekeeping, whose scope no run owns.
        return False
    if any(one.retention and _covers(one, draw) for one in deletes):
        return False
    return not own or any(lasting(one) for one in own)


def _covers(write: Write, draw: Draw) -> bool:
    return write.spot.line <= draw.spot.line <= max(write.spot.end_line, write.spot.line)
