"""Work that goes on beside the main thread: one piece after the other, in a thread of its own."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from typing_extensions import Self

Result = TypeVar("Result")


class Beside:
    """Does what it is given beside the caller; at once and in the caller's thread if told so."""

    def __init__(self, *, threaded: bool) -> None:
        self._pool = ThreadPoolExecutor(max_workers=1) if threaded else None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Wait for what is under way; what has not begun is left."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def do(self, work: Callable[[], Result]) -> Future[Result]:
        """Do this after what was given before; what comes of it, or its error, is kept."""
        if self._pool is not None:
            return self._pool.submit(work)
        done: Future[Result] = Future()
        try:
            done.set_result(work())
        except Exception as error:  # noqa: BLE001 — as a pool does: it is raised where it is asked for
            done.set_exception(error)
        return done
