"""An engine in memory for backfills: tables are dictionaries, faults are laid in its way."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from setpoint.engine.protocol import Outcome, SourceChange, Token
from setpoint.errors import EngineFailed
from setpoint.model.checksum import Checksum
from setpoint.model.comparison import Comparison, WindowDiff
from setpoint.model.window_counts import WindowCount

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from setpoint.model.analysis import Analysis
    from setpoint.model.table import TableName
    from setpoint.model.task import BoundSource, Task
    from setpoint.model.window import Window


class MemoryEngine:
    """Writes a number for each window; twins share the tables."""

    def __init__(self) -> None:
        self.tables: dict[str, dict[str, int]] = {}
        self.commits: dict[str, Outcome] = {}
        self.jobs: list[tuple[str, tuple[str, ...]]] = []
        self.bad: set[str] = set()
        """Labels of windows whose rows fail."""
        self.separable = True
        self.before: Callable[[Sequence[Window | None]], None] = lambda _windows: None
        """Called before each write."""
        self.after: Callable[[], None] = lambda: None
        """Called between a commit and its answer."""
        self.schedulers: list[str] = []
        self.started = 0
        self.running = 0
        self.most = 0
        self.stopped = threading.Event()
        self._lock = threading.Lock()

    def start(self) -> None:
        """Count it."""
        self.started += 1

    def twin(self) -> MemoryEngine:
        """The same: it keeps nothing of a session."""
        return self

    def use_scheduler(self, pool: str) -> None:
        """Note it."""
        self.schedulers.append(pool)

    def stop_jobs(self) -> None:
        """Let whoever waits see it."""
        self.stopped.set()

    def cancel(self, token: Token) -> None:
        """Nothing is under way elsewhere."""

    def highest_fence(self, task: Task) -> int:  # noqa: ARG002
        """No table remembers any."""
        return 0

    def inspect(self, task: Task, window: Window | None) -> None:
        """No hidden inputs."""

    def carry_out(
        self,
        task: Task,
        window: Window | None,
        token: Token,
        *,
        as_of: Mapping[str, str] | None = None,  # noqa: ARG002
    ) -> Outcome:
        """One window, or the whole table."""
        return self._write(task, [window], token)

    def carry_out_batch(self, task: Task, windows: Sequence[Window], token: Token) -> Outcome:
        """All of them, or none."""
        return self._write(task, windows, token)

    def _write(self, task: Task, windows: Sequence[Window | None], token: Token) -> Outcome:
        labels = tuple(window.label if window else "all" for window in windows)
        with self._lock:
            self.jobs.append((task.name, labels))
            self.running += 1
            self.most = max(self.most, self.running)
        try:
            self.before(windows)
            wrong = self.bad & set(labels)
            if wrong:
                raise EngineFailed(f"bad rows in {', '.join(sorted(wrong))}")
            table = self.tables.setdefault(str(task.target), {})
            counts = tuple(
                WindowCount(window=w, rows=10, replaced=table.get(w.label, 0))
                for w in windows
                if w is not None
            )
            with self._lock:
                table.update(dict.fromkeys(labels, 10))
                outcome = Outcome(rows=10 * len(labels), snapshot="s", replaced=0, windows=counts)
                self.commits[token.run_id] = outcome
            self.after()
            return outcome
        finally:
            with self._lock:
                self.running -= 1

    def find_commit(
        self,
        task: Task,  # noqa: ARG002
        run_id: str,
        *,
        as_of: Mapping[str, str] | None = None,  # noqa: ARG002
    ) -> Outcome | None:
        """The commit that carries this id."""
        return self.commits.get(run_id)

    def find_batch(self, task: Task, windows: Sequence[Window], run_id: str) -> Outcome | None:  # noqa: ARG002
        """The commit that carries this id."""
        return self.commits.get(run_id)

    def result_checksum(self, task: Task, window: Window) -> Checksum:  # noqa: ARG002
        """A row a day; together one more, when told not to be separable."""
        days = (window.end - window.start).days
        return Checksum(days, days if self.separable else days * days, 0)

    def compare(self, task: Task, other: TableName, windows: Sequence[Window]) -> Comparison:
        """Windows that only the other table has are added."""
        here, there = (self.tables.get(str(name), {}) for name in (task.target, other))
        return Comparison(
            windows=tuple(
                WindowDiff(
                    window=w,
                    before=here.get(w.label, 0),
                    after=there.get(w.label, 0),
                    added=max(0, there.get(w.label, 0) - here.get(w.label, 0)),
                    removed=max(0, here.get(w.label, 0) - there.get(w.label, 0)),
                    changed=0,
                )
                for w in windows
            )
        )

    def drop(self, table: TableName) -> None:
        """Forget it."""
        self.tables.pop(str(table), None)

    def source_changes(self, source: BoundSource) -> list[SourceChange] | None:  # noqa: ARG002
        """No history."""
        return None

    def checksum(self, task: Task, window: Window | None, snapshot: str | None) -> str:
        """Not asked for here."""
        raise NotImplementedError

    def rows(self, *_: Any, **__: Any) -> list[dict[str, Any]]:
        """One row to tell of, whatever is asked."""
        return [{"id": 1}]

    def analyse(self, task: Task, window: Window | None) -> Analysis:
        """Not asked for here."""
        raise NotImplementedError
