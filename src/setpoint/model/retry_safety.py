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
class Proof:
    """What `verify` found out about exactly this code: the part that retries rest on."""

    idempotent: bool
    checks: tuple[str, ...]
    """The checks that were made."""
    failed: tuple[str, ...] = ()
    cause: str | None = None


@dataclass(frozen=True, kw_only=True)
class Unsafe:
    """Why a second attempt may not give what the first would have, and what to do about it."""

    reason: str
    fix: str


@dataclass(frozen=True, kw_only=True)
class _Doubt:
    """What the declaration alone gives reason to fear, and the checks that would disprove it."""

    unsafe: Unsafe
    disproved_by: frozenset[str]


def unsafe_to_retry(
    task: str,
    *,
    allow: Sequence[Allow],
    kind: str,
    unguarded: Sequence[str] = (),
    proof: Proof | None = None,
) -> tuple[Unsafe, ...]:
    """What keeps a task from being known as idempotent; empty when nothing does.

    `unguarded` are acts outside that the transform itself does. Effects that the task declares are
    guarded by the outbox, and are no reason. A proof on the same code decides: one against the task
    forbids retries whatever it declares, one for it takes away the doubts that its checks cover.
    """
    if proof is not None and not proof.idempotent:
        failed = ", ".join(proof.failed)
        cause = f": {proof.cause}" if proof.cause else ""
        return (
            Unsafe(
                reason=f"verify found this code not idempotent ({failed}{cause})",
                fix=f"mend it, then prove it: setpoint verify {task}",
            ),
        )
    made = frozenset(proof.checks) if proof else frozenset()
    return tuple(
        Unsafe(reason=doubt.unsafe.reason, fix=f"{doubt.unsafe.fix}; {_proving(task, doubt, made)}")
        for doubt in _doubts(allow, kind, unguarded)
        if not doubt.disproved_by <= made
    )


def _proving(task: str, doubt: _Doubt, made: frozenset[str]) -> str:
    missing = ", ".join(sorted(doubt.disproved_by - made))
    if made:
        return f"or prove that it is harmless: verify left out {missing}: setpoint verify {task}"
    return f"or prove that it is harmless: setpoint verify {task}"


def _doubts(allow: Sequence[Allow], kind: str, unguarded: Sequence[str]) -> list[_Doubt]:
    found = [
        _Doubt(
            unsafe=Unsafe(
                reason=f"it may use {entry.function}, so another attempt gives other rows",
                fix=f"take {entry.function} out of the task, and of its allow",
            ),
            disproved_by=frozenset({"two", "crash", "clock"}),
        )
        for entry in allow
        if entry.function not in ORDER_ONLY
    ]
    found += [
        _Doubt(
            unsafe=Unsafe(
                reason=f"its code does {act} itself, so another attempt does it again",
                fix="declare it: effects=[…] sends it once, after the commit",
            ),
            disproved_by=frozenset({"two", "crash", "effects"}),
        )
        for act in unguarded
    ]
    if kind in GUARANTEES and not GUARANTEES[kind].atomic:
        found.append(
            _Doubt(
                unsafe=Unsafe(
                    reason=f"a write to {kind} is not one step, so an attempt may leave half of it",
                    fix="keep the table in a catalog of type iceberg or delta, or in postgres",
                ),
                disproved_by=frozenset({"two", "crash"}),
            )
        )
    return found
