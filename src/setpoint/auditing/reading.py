"""Reading one file within a time limit, whatever is in it."""

from __future__ import annotations

import pickle
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType

# Seconds of processor time, not of the clock: a busy machine must not change a verdict.
TIME_LIMIT = 1.5

Read = Callable[[str, str], object]


@dataclass(frozen=True, kw_only=True)
class Job:
    """One file to read."""

    path: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Done:
    """A file that was read, or the reason why it was not."""

    path: str
    facts: bytes | None
    """Pickled, ready for the cache."""
    reason: str = ""


class _TimeIsUp(BaseException):
    """Not an Exception: a reader that is generous in what it catches must not catch it."""


def read_one(job: Job, read: Read, *, limit: float = TIME_LIMIT) -> Done:
    """Read a file; a fault of the reader becomes a reason and never ends the run."""
    try:
        return Done(path=job.path, facts=pickle.dumps(_limited(job, read, limit), protocol=5))
    except _TimeIsUp:
        return Done(path=job.path, facts=None, reason=too_slow(limit))
    except RecursionError:
        return Done(path=job.path, facts=None, reason="is nested too deeply to be read")
    except MemoryError:
        return Done(path=job.path, facts=None, reason="needs too much memory to be read")
    except Exception as error:  # noqa: BLE001 - listed as unparsed, with what happened
        return Done(path=job.path, facts=None, reason=f"cannot be read: {_words(error)}")


def too_slow(limit: float) -> str:
    """Why a file was given up."""
    return f"takes longer than {limit:g} s to read"


def _limited(job: Job, read: Read, limit: float) -> object:
    # Timers belong to the process and their signals to its main thread.
    if threading.current_thread() is not threading.main_thread():
        return read(job.path, job.text)
    before = signal.signal(signal.SIGVTALRM, _ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, limit)
    try:
        return read(job.path, job.text)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _ring(_number: int, _frame: FrameType | None) -> None:
    raise _TimeIsUp


def _words(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:200]}" if text else type(error).__name__
