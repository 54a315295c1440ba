"""Whether a task may be retried by itself: only what is known to be idempotent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from setpoint.model.target import GUARANTEES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from setpoint.model.hidden_input import Allow

# These depend on the order of rows: worth a warning, and no different in a second attempt's nature.
ORDER_ONLY = frozenset({"first", "last", "any_value", "collect_list", "collect_set"})


@dataclass(frozen=True, kw_only=True)
class Unsafe:
    """Why a second attempt may not give what the first would have, and what to do about it."""

    reason: str
    fix: str


def unsafe_to_retry(
    *, allow: Sequence[Allow], kind: str, unguarded: Sequence[str] = ()
) -> tuple[Unsafe, ...]:
    """What keeps a task from being known as idempotent; empty when nothing does.

    `unguarded` are acts outside that the transform itself does. Effects that the task declares are
    guarded by the outbox, and are no reason.
    """
    found = [
        Unsafe(
            reason=f"it may use {entry.function}, so another attempt gives other rows",
            fix=f"take {entry.function} out of the task, and of its allow",
        )
        for entry in allow
        if entry.function not in ORDER_ONLY
    ]
    found += [
        Unsafe(
            reason=f"its code does {act} itself, so another attempt does it again",
            fix="declare it: effects=[…] sends it once, after the commit",
        )
        for act in unguarded
    ]
    if kind in GUARANTEES and not GUARANTEES[kind].atomic:
        found.append(
            Unsafe(
                reason=f"a write to {kind} is not one step, so an attempt may leave half of it",
                fix="keep the table in a catalog of type iceberg or delta, or in postgres",
            )
        )
    return tuple(found)
