"""Finding the windows that are to blame when a batch fails; all others go through. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from setpoint.errors import (
    EngineFailed,
    GateFailed,
    RunError,
    SetpointError,
    TransformFailed,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Item = TypeVar("Item")
Found = TypeVar("Found")

# What can lie in the rows of one window. A missing table, a full disk or a clock in the code
# would fail alike in every window, and trying them one by one would only take long.
OF_A_WINDOW: tuple[type[RunError], ...] = (GateFailed, TransformFailed, EngineFailed)


@dataclass(frozen=True, kw_only=True)
class Part(Generic[Item, Found]):
    """Windows that ended together: with what came of them, or with the error."""

    items: Sequence[Item]
    found: Found | None = None
    error: SetpointError | None = None


def bisected(
    items: Sequence[Item], attempt: Callable[[Sequence[Item]], Found]
) -> Iterator[Part[Item, Found]]:
    """Try all together; on a failure that one of them may have caused, try each half alone."""
    waiting = [items]
    while waiting:
        these = waiting.pop()
        try:
            found = attempt(these)
        except SetpointError as error:
            if len(these) == 1 or not isinstance(error, OF_A_WINDOW):
                yield Part(items=these, error=error)
                continue
            middle = len(these) // 2
            waiting += [these[middle:], these[:middle]]
        else:
            yield Part(items=these, found=found)
