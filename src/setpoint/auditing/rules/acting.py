"""The effects of a unit that a rule may speak of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setpoint.auditing import naming

if TYPE_CHECKING:
    from collections.abc import Iterator

    from setpoint.auditing.facts import Effect
    from setpoint.auditing.world import Case


_LIBRARY_WORDS = frozenset(
    {
        "utils", "util", "helpers", "helper", "common", "lib", "libs", "notifications", "notifier",
        "alerts", "alerting", "sdk",
    }
)  # fmt: skip


_CLASS_AND_METHOD = 2
_WRAPPERS = (
    "Client", "Hook", "Integration", "Target", "Notifier", "Service", "Adapter", "Sender",
    "Mailer", "Handler", "Wrapper", "Provider", "Bot", "Gateway", "Resource",
)  # fmt: skip


def _is_library(case: Case) -> bool:
    """Code for others to call: what it sends, and how often, its callers decide."""
    return bool(naming.words(case.file.path) & _LIBRARY_WORDS)


def _is_wrapper(case: Case) -> bool:
    """A method of a class that wraps a service for others."""
    parts = case.unit.name.split(".")
    return len(parts) > _CLASS_AND_METHOD and parts[-2].endswith(_WRAPPERS)


def effects(case: Case, kind: str) -> Iterator[Effect]:
    """The unguarded effects of a kind, in units that move data or are run by an orchestrator."""
    if case.file.setting != "pipeline" or case.unit.alert or _is_wrapper(case):
        return
    moves = any(unit.writes for unit in case.file.units)
    if not (case.orchestrated or case.file.dags or moves) and _is_library(case):
        return
    for effect in case.unit.effects:
        if effect.kind == kind and not effect.guard and not _is_client(case, effect):
            yield effect


def _is_client(case: Case, effect: Effect) -> bool:
    """A call to an address that the object was made with, in a method for others to call."""
    method = len(case.unit.name.split(".")) > _CLASS_AND_METHOD
    return method and effect.own and not case.orchestrated
