"""Reading many files in processes of their own.

Not `concurrent.futures`: there one process that dies or hangs breaks the pool for all. Here each
worker has its own pipe, and one that dies or hangs costs exactly the file that it was reading.
"""

from __future__ import annotations

import gc
import multiprocessing
import signal
import threading
import time
from collections import deque
from multiprocessing.connection import wait
from typing import TYPE_CHECKING

from setpoint.auditing.reading import TIME_LIMIT, Done, Job, Read, read_one, too_slow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from multiprocessing.connection import Connection
    from multiprocessing.context import BaseContext
    from multiprocessing.process import BaseProcess

# Below this the start of processes costs more than it brings.
_FEW_BYTES = 60_000
_BATCH_BYTES = 200_000
_BATCH_FILES = 16
# More seconds of processor time, for a reader that is busy in compiled code: no exception gets in
# there, so the kernel ends the process.
_GRACE = 0.3
# Seconds of the clock, for a reader that waits for something that never comes.
_HARD_LIMIT = 20.0
_PATIENCE = 5.0
_COLLECT_BYTES = 1_500_000
_MOST_OBJECTS = 1_000_000

ENDED = "ended the process that read it"


def read_all(
    jobs: Iterable[Job],
    read: Read,
    *,
    processes: int,
    limit: float = TIME_LIMIT,
    hard_limit: float = _HARD_LIMIT,
) -> Iterator[Done]:
    """Read the files, in any order; as many answers as jobs, whatever happens."""
    waiting = deque(jobs)
    size = sum(job.size for job in waiting)
    if size < _FEW_BYTES:
        while waiting:
            yield read_one(waiting.popleft(), read, limit=limit)
        return
    context = _context()
    batches = _batches(waiting, processes)
    workers = [_Worker(context, read, limit) for _ in range(min(processes, len(batches)))]
    try:
        yield from _serve(workers, batches, hard_limit)
    finally:
        for worker in workers:
            worker.stop()


def _context() -> BaseContext:
    """Forking shares what is imported already; with threads about it is not safe."""
    methods = multiprocessing.get_all_start_methods()
    alone = threading.active_count() == 1
    return multiprocessing.get_context("fork" if "fork" in methods and alone else "spawn")


def _batches(jobs: deque[Job], processes: int) -> deque[list[Job]]:
    """Few files a batch, and fewer when there are few: no process idles at the end."""
    most = max(1, min(_BATCH_FILES, len(jobs) // (processes * 4)))
    batches: deque[list[Job]] = deque()
    size = 0
    for job in jobs:
        full = not batches or len(batches[-1]) >= most or size > _BATCH_BYTES
        if full:
            batches.append([])
            size = 0
        batches[-1].append(job)
        size += job.size
    return batches


def _serve(workers: list[_Worker], batches: deque[list[Job]], hard_limit: float) -> Iterator[Done]:
    for worker in workers:
        worker.give(batches)
    while busy := [worker for worker in workers if worker.jobs]:
        soonest = min(worker.since for worker in busy) + hard_limit
        ready = wait([w.pipe for w in busy], timeout=max(0.0, soonest - time.monotonic()))
        for worker in busy:
            if worker.pipe in ready:
                yield worker.take()
            elif time.monotonic() - worker.since > hard_limit:
                yield worker.give_up(too_slow(hard_limit))
            if not worker.jobs:
                worker.give(batches)


class _Worker:
    """A process that reads files, and what it still owes."""

    def __init__(self, context: BaseContext, read: Read, limit: float) -> None:
        self._context = context
        self._read = read
        self._limit = limit
        self.jobs: deque[Job] = deque()
        self.since = 0.0
        self._start()

    def _start(self) -> None:
        self.pipe, far = self._context.Pipe()
        self._process: BaseProcess = self._context.Process(  # type: ignore[attr-defined]
            target=_work, args=(far, self._read, self._limit), daemon=True
        )
        self._process.start()
        far.close()

    def give(self, batches: deque[list[Job]]) -> None:
        """Hand over the next batch; only when nothing is owed, so that nobody waits in a circle."""
        if batches:
            self._send(batches.popleft())

    def _send(self, batch: list[Job]) -> None:
        self.jobs = deque(batch)
        self.since = time.monotonic()
        try:
            self.pipe.send(batch)
        except OSError:
            # It died while idle; whoever asks for its first answer will find that out.
            return

    def take(self) -> Done:
        """The next answer; a process that died owes the file that it was reading."""
        try:
            done: Done = self.pipe.recv()
        except (EOFError, OSError):
            self._process.join(_PATIENCE)
            slow = self._process.exitcode == -signal.SIGPROF
            return self.give_up(too_slow(self._limit) if slow else ENDED)
        self.jobs.popleft()
        self.since = time.monotonic()
        return done

    def give_up(self, reason: str) -> Done:
        """Leave the file that is in the way, and go on with the rest in a new process."""
        self.stop()
        job = self.jobs.popleft()
        rest = list(self.jobs)
        self._start()
        if rest:
            self._send(rest)
        return Done(path=job.path, reason=reason)

    def stop(self) -> None:
        """End the process."""
        self.pipe.close()
        self._process.kill()
        self._process.join()


def _work(pipe: Connection, read: Read, limit: float) -> None:
    """What a worker does until its pipe is closed."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    # Syntax trees are many small objects with circles that live for one file. Looking for garbage
    # after so many bytes of source instead of so many objects saves a tenth of the time, and what
    # survives (modules, mostly) is not looked at again.
    gc.set_threshold(_MOST_OBJECTS, 10, 10)
    since = 0
    try:
        while True:
            for job in pipe.recv():
                since += job.size
                if since > _COLLECT_BYTES:
                    gc.collect()
                    gc.freeze()
                    since = 0
                signal.setitimer(signal.ITIMER_PROF, limit + _GRACE)
                done = read_one(job, read, limit=limit)
                signal.setitimer(signal.ITIMER_PROF, 0)
                pipe.send(done)
    except (EOFError, OSError, KeyboardInterrupt):
        return
