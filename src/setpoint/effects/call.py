"""Calling an author's own function, once for each key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from setpoint.effects.secret import scrubbed
from setpoint.errors import EffectRefused, Transient
from setpoint.model.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from setpoint.model.delivery import Delivery


class FunctionCaller:
    """Calls `function(values, key)`."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def send(self, delivery: Delivery) -> Verdict:
        """One attempt."""
        values = delivery.content["values"]
        return verdict_of(delivery, lambda: self._function(values, delivery.wire_key))

    def close(self) -> None:
        """Nothing is kept open."""


def verdict_of(delivery: Delivery, attempt: Callable[[], Any]) -> Verdict:
    """What a function's return or error says of the world outside."""
    try:
        attempt()
    except Transient as error:
        return Verdict(arrival="again", reason=scrubbed(error.message, delivery.content))
    except EffectRefused as error:
        return Verdict(arrival="refused", reason=scrubbed(error.message, delivery.content))
    except Exception as error:  # noqa: BLE001 — it may have acted before it raised whatever it did
        reason = f"it raised {type(error).__name__}: {error}"
        return Verdict(arrival="unclear", reason=scrubbed(reason, delivery.content))
    return Verdict(arrival="sent")
