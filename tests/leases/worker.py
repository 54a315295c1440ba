"""A process that runs one task on a window: the real runner and ledger, a table without Spark.

    python -m tests.leases.worker '{"ledger": …, "table": …, "window": [start, end], …}'

It prints `writing` when it is about to commit, and goes on when a line comes from its standard
input. The last line that it prints is how the run ended.
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import threading
from contextlib import closing
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import time_machine
from tests.task_maker import Maker

from setpoint.cli.progress import PlainLines
from setpoint.engine.protocol import Outcome
from setpoint.errors import CommitConflict, EngineFailed, SetpointError
from setpoint.failpoint import VARIABLE
from setpoint.ledger import holder
from setpoint.ledger.opening import open_ledger
from setpoint.model.plan import Plan, Step
from setpoint.model.window import Window
from setpoint.running.runner import Runner

if TYPE_CHECKING:
    from setpoint.engine.protocol import Token
    from setpoint.model.task import Task

BUSY_SECONDS = 60


class FileTable:
    """An engine that sets windows of a SQLite table; each commit carries its token."""

    def __init__(self, path: Path, *, asks: bool) -> None:
        self.path = path
        self.asks = asks
        self.stopped = threading.Event()
        self.answered = threading.Event()
        with closing(self._open()) as table:
            table.execute("PRAGMA journal_mode = WAL")
            table.execute(
                "CREATE TABLE IF NOT EXISTS commits (number INTEGER PRIMARY KEY, run_id TEXT,"
                " fence INTEGER, start TEXT, ending TEXT, pid INTEGER)"
            )

    def _open(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None)

    def carry_out(
        self,
        task: Task,  # noqa: ARG002
        window: Window | None,
        token: Token,
        *,
        as_of: Any = None,  # noqa: ARG002
    ) -> Outcome:
        """Commit, once the test lets it, unless a newer attempt has."""
        if self.asks:
            click.echo("writing")
            threading.Thread(target=self._listen, daemon=True).start()
            while not self.answered.wait(0.01):
                if self.stopped.is_set():
                    raise EngineFailed("cancelled")
        start, end = _edges(window)
        with closing(self._open()) as table:
            table.execute("BEGIN IMMEDIATE")
            newer = table.execute(
                "SELECT fence FROM commits WHERE fence > ? AND start < ? AND ending > ?",
                [token.fence, end, start],
            ).fetchone()
            if newer:
                table.execute("ROLLBACK")
                raise CommitConflict(f"fence {newer[0]} was here")
            table.execute(
                "INSERT INTO commits (run_id, fence, start, ending, pid) VALUES (?, ?, ?, ?, ?)",
                [token.run_id, token.fence, start, end, holder.this_process().pid],
            )
            table.execute("COMMIT")
        return Outcome(rows=1, snapshot=str(token.fence))

    def _listen(self) -> None:
        sys.stdin.readline()
        self.answered.set()

    def find_commit(
        self,
        task: Task,  # noqa: ARG002
        run_id: str,
        *,
        as_of: Any = None,  # noqa: ARG002
    ) -> Outcome | None:
        """The commit that carries this run's id."""
        with closing(self._open()) as table:
            query = "SELECT max(fence) FROM commits WHERE run_id = ?"
            (fence,) = table.execute(query, [run_id]).fetchone()
        return Outcome(rows=1, snapshot=str(fence)) if fence else None

    def rows(self, *_: Any, **__: Any) -> list[dict[str, Any]]:
        """Never asked for."""
        raise NotImplementedError

    def cancel(self, token: Token) -> None:  # noqa: ARG002
        """Stop waiting."""
        self.stopped.set()

    def highest_fence(self, task: Task) -> int:  # noqa: ARG002
        """The highest fence of all commits."""
        with closing(self._open()) as table:
            (fence,) = table.execute("SELECT coalesce(max(fence), 0) FROM commits").fetchone()
        return int(fence)

    def checksum(self, task: Task, window: Window | None, snapshot: str | None) -> str:
        """Never asked for."""
        raise NotImplementedError

    def analyse(self, task: Task, window: Window | None) -> Any:
        """Never asked for."""
        raise NotImplementedError


def _edges(window: Window | None) -> tuple[str, str]:
    if window is None:
        return "", "~"
    return window.start.isoformat(), window.end.isoformat()


def main() -> None:
    """Run the windows that the argument names, each as a step."""
    given = json.loads(sys.argv[1])
    if given.get("traps"):
        os.environ[VARIABLE] = given["traps"]
    if given.get("machine"):
        holder._machine = lambda: given["machine"]
    clock = datetime.now(timezone.utc) + timedelta(hours=given.get("hours", 0))
    engine = FileTable(Path(given["table"]), asks=given.get("asks", True))
    task = Maker.task()
    steps = [
        Step(
            task=task,
            window=Window(
                start=datetime.fromisoformat(start), end=datetime.fromisoformat(end), zone="UTC"
            ),
        )
        for start, end in given["windows"]
    ]
    with (
        time_machine.travel(clock, tick=True),
        open_ledger(given["ledger"], root=Path(given["table"]).parent, create=True) as ledger,
    ):
        runner = Runner(
            engine=engine,
            ledger=ledger,
            listener=PlainLines(),
            lease_seconds=given.get("seconds", 60),
            patient=given.get("patient", True),
        )
        results = runner.run(Plan(steps=tuple(steps)))
    for result in results:
        error = result.error.message if isinstance(result.error, SetpointError) else ""
        click.echo("ended " + json.dumps({"state": result.state, "error": error}))


if __name__ == "__main__":
    main()
