"""Finding one run by what a person typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setpoint.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from setpoint.ledger.record import Run

SHOWN = 3


def only_match(typed: str, matches: Sequence[Run]) -> Run:
    """The one run whose id begins as typed; an error that helps when there is none, or several."""
    if len(matches) == 1 and typed:
        return matches[0]
    if not matches or not typed:
        raise UsageError(
            f"No run has an id that begins with '{typed}'.", next_step="setpoint history"
        )
    shown = ", ".join(run.run_id for run in matches[:SHOWN])
    more = ", …" if len(matches) > SHOWN else ""
    raise UsageError(
        f"More than one run has an id that begins with '{typed}': {shown}{more}.",
        next_step="Type more of the id.",
    )
