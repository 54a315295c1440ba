"""Real processes that run one task, each led by the test step by step."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from datetime import datetime, timedelta, timezone
from pathlib import Path
from queue import Empty, Queue
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent.parent
PATIENCE = 60
WRITING = "writing"
END = "(the end)"


class Worker:
    """One process."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.leases.worker", json.dumps(given)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.said: list[str] = []
        self._lines: Queue[str] = Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line.rstrip("\n"))
        self._lines.put(END)

    @property
    def pid(self) -> int:
        """Its number."""
        return self.process.pid

    def until(self, words: str) -> str:
        """The next line with these words; what is said before it is kept."""
        while True:
            try:
                line = self._lines.get(timeout=PATIENCE)
            except Empty:
                raise AssertionError(f"no {words!r} in {self.said}, and no more") from None
            # It writes, and would wait for a word: what is looked for did not happen.
            if line == END or (line == WRITING and words != WRITING):
                raise AssertionError(f"no {words!r} in {self.said}: {line}")
            self.said.append(line)
            if words in line:
                return line

    def rest(self) -> list[str]:
        """Everything that it says until its end."""
        while (line := self._lines.get(timeout=PATIENCE)) != END:
            self.said.append(line)
        assert self.process.wait(PATIENCE) == 0, self.errors()
        return self.said

    def go(self) -> None:
        """Let it commit."""
        assert self.process.stdin is not None
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def ended(self) -> dict[str, str]:
        """How its run ended."""
        found: dict[str, str] = json.loads(self.until("ended ").partition(" ")[2])
        assert self.process.wait(PATIENCE) == 0, self.errors()
        return found

    def finish(self) -> dict[str, str]:
        """Let it commit, and see how it ended."""
        self.until(WRITING)
        self.go()
        return self.ended()

    def send(self, number: signal.Signals) -> None:
        """Send a signal."""
        self.process.send_signal(number)

    def dies(self) -> None:
        """See it killed by the trap that it was given."""
        assert self.process.wait(PATIENCE) == -signal.SIGKILL, self.errors()

    def kill(self) -> None:
        """Kill it, and see it dead."""
        self.process.kill()
        self.process.wait(PATIENCE)

    def errors(self) -> str:
        """What it printed to standard error."""
        assert self.process.stderr is not None
        return self.process.stderr.read()


class Yard:
    """A ledger and a table, and the processes that work on them."""

    def __init__(self, folder: Path, ledger: str = "sqlite:///ledger.db") -> None:
        self.folder = folder
        self.ledger = ledger
        self.workers: list[Worker] = []

    @staticmethod
    def day(number: int, days: int = 1) -> list[str]:
        """So many days from a day of April on."""
        start = datetime(2026, 4, number, tzinfo=timezone.utc)
        return [start.isoformat(), (start + timedelta(days=days)).isoformat()]

    def start(self, *windows: list[str], **more: Any) -> Worker:
        """Start a process on these windows."""
        table = str(self.folder / "table.db")
        given = {"ledger": self.ledger, "table": table, "windows": windows, **more}
        self.workers.append(Worker(given))
        return self.workers[-1]

    def commits(self) -> list[tuple[int, int]]:
        """Who committed, with which fence, in order."""
        with closing(sqlite3.connect(self.folder / "table.db")) as table:
            return table.execute("SELECT pid, fence FROM commits ORDER BY number").fetchall()

    def close(self) -> None:
        """End what is left."""
        for worker in self.workers:
            if worker.process.poll() is None:
                worker.send(signal.SIGCONT)
                worker.kill()
            for stream in (worker.process.stdin, worker.process.stdout, worker.process.stderr):
                if stream:
                    stream.close()


@pytest.fixture
def yard(tmp_path: Path) -> Iterator[Yard]:
    """On a SQLite ledger."""
    yard = Yard(tmp_path)
    yield yard
    yard.close()
