"""Reading one file within a time limit, whatever is in it."""

from __future__ import annotations

import hashlib
import pickle
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from setpoint.auditing.source import NotText, decode

if TYPE_CHECKING:
    from pathlib import Path
    from types import FrameType

# Seconds of processor time, not of the clock: a busy machine must not change a verdict.
TIME_LIMIT = 1.5

Read = Callable[[str, str], object]


@dataclass(frozen=True, kw_only=True)
class Job:
    """One file to read."""

    path: str
    place: Path
    size: int


@dataclass(frozen=True, kw_only=True)
class Done:
    """A file that was read, or the reason why it was not."""

    path: str
    digest: bytes = b""
    """Of the bytes that were read, which may be newer than those seen before."""
    facts: bytes | None = None
    """Pickled, ready for the cache."""
    reason: str = ""


def content_digest(content: bytes) -> bytes:
    """What the content of a file is known by."""
    return hashlib.blake2b(content, digest_size=20).digest()


class _TimeIsUp(BaseException):
    """Not an Exception: a reader that is generous in what it catches must not catch it."""


def read_one(job: Job, read: Read, *, limit: float = TIME_LIMIT) -> Done:
    """Read a file; a fault of the file or the reader becomes a reason and never ends the run."""
    try:
        content = job.place.read_bytes()
        text = decode(content, python=job.path.endswith(".py")).text
        facts = pickle.dumps(_limited(job.path, text, read, limit), protocol=5)
        return Done(path=job.path, digest=content_digest(content), facts=facts)
    except OSError as error:
        reason = f"cannot be opened: {error.strerror or error}"
    except NotText as error:
        reason = str(error)
    except _TimeIsUp:
        reason = too_slow(limit)
    except RecursionError:
        reason = "is nested too deeply to be read"
    except MemoryError:
        reason = "needs too much memory to be read"
    except Exception as error:  # noqa: BLE001 - listed as unparsed, with what happened
        reason = f"cannot be read: {_words(error)}"
    return Done(path=job.path, reason=reason)


def too_slow(limit: float) -> str:
    """Why a file was given up."""
    return f"takes longer than {limit:g} s to read"


def _limited(path: str, text: str, read: Read, limit: float) -> object:
    # Timers belong to the process and their signals to its main thread.
    if threading.current_thread() is not threading.main_thread():
        return read(path, text)
    before = signal.signal(signal.SIGVTALRM, _ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, limit)
    try:
        return read(path, text)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _ring(_number: int, _frame: FrameType | None) -> None:
    raise _TimeIsUp


def _words(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:200]}" if text else type(error).__name__
