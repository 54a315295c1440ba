"""The experiment on a task's copies, with an engine in memory: each check can fail."""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from copy import copy
from datetime import date, datetime, timezone
from typing import TYPE_CHECKING, Any

import pytest
from tests.task_maker import Maker

from setpoint.engine.protocol import Outcome, Token
from setpoint.engine.spark.trial_engine import Died, Differing
from setpoint.errors import GateFailed, TransformFailed
from setpoint.verifying.check import chosen_checks
from setpoint.verifying.code_reading import Reading, read_python
from setpoint.verifying.copies import Copies
from setpoint.verifying.recorder import Recorder
from setpoint.verifying.rows import Rows
from setpoint.verifying.trial import Trial
from setpoint.verifying.trial_windows import trial_windows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from setpoint.model.task import Task
    from setpoint.model.window import Window

Row = tuple[Any, ...]
COLUMNS = ("day", "id", "value")


class MemoryTables:
    """Tables by name; a write replaces the rows of its window, unless told to break."""

    def __init__(self) -> None:
        self.tables: dict[str, list[Row]] = {}
        self.commits: dict[str, Outcome] = {}
        self.value: Callable[[MemoryTables, Window], object] = lambda _tables, _window: 0
        self.write: Callable[[list[Row], list[Row], Window], list[Row]] = _replaced
        self.leaves_half = False
        self.forgets = False
        self.begun: list[str] = []
        self.arrangement = 0
        self._death: str | None = None

    @property
    def runs(self) -> int:
        """How many runs were begun, here and beside."""
        return len(self.begun)

    def carry_out(
        self,
        task: Task,
        window: Window | None,
        token: Token,
        *,
        as_of: Mapping[str, str] | None = None,  # noqa: ARG002
    ) -> Outcome:
        """Write three rows for each day of the window."""
        assert window is not None
        self.begun.append(token.run_id)
        table = self.tables.setdefault(str(task.target), [])
        value = self.value(self, window)
        days = (window.end - window.start).days
        names = [date.fromordinal(window.start.toordinal() + n).isoformat() for n in range(days)]
        rows: list[Row] = [(day, n, value) for day in names for n in range(3)]
        if self._death == "before the write":
            raise Died
        if self._death == "while writing":
            if self.leaves_half:
                table += [(window.ds, "half", 0)]
            raise Died
        self.tables[str(task.target)] = self.write(table, rows, window)
        outcome = Outcome(rows=len(rows), snapshot=None)
        if not self.forgets:
            self.commits[token.run_id] = outcome
        if self._death == "after the commit":
            raise Died
        return outcome

    def find_commit(
        self,
        task: Task,  # noqa: ARG002
        run_id: str,
        *,
        as_of: Mapping[str, str] | None = None,  # noqa: ARG002
    ) -> Outcome | None:
        """The commit of a run."""
        return self.commits.get(run_id)

    def cancel(self, token: Token) -> None:
        """Nothing goes on beside."""

    def highest_fence(self, task: Task) -> int:  # noqa: ARG002
        """A new table each time."""
        return 0

    @contextmanager
    def arranged(self, arrangement: Any) -> Iterator[None]:
        """Another order of the input."""
        self.arrangement = arrangement.seed
        yield
        self.arrangement = 0

    def second(self) -> MemoryTables:
        """Another one on the same tables, which dies and is arranged by itself."""
        return copy(self)

    @contextmanager
    def under(self, condition: Callable[[], AbstractContextManager[None]]) -> Iterator[None]:
        """Another world."""
        with condition():
            yield

    @contextmanager
    def dying(self, death: str) -> Iterator[None]:
        """Stop the next write."""
        self._death = death
        try:
            yield
        finally:
            self._death = None

    def contents(self, task: Task, windows: Sequence[Window]) -> dict[str, str]:
        """A checksum by window."""
        found: dict[str, list[Row]] = {}
        labels = {window.ds for window in windows}
        for row in self.tables.get(str(task.target), []):
            found.setdefault(row[0] if row[0] in labels else "other rows", []).append(row)
        return {label: Rows.of(COLUMNS, rows).checksum for label, rows in found.items()}

    def checksum(self, task: Task, window: Window | None, snapshot: str | None) -> str:  # noqa: ARG002
        """Of the one window."""
        assert window is not None
        return self.contents(task, [window])[window.ds]

    def differing(self, first: Task, second: Task) -> Differing:
        """All rows of both."""
        one, other = (self.tables[str(task.target)] for task in (first, second))
        return Differing(
            columns=COLUMNS,
            first=one,
            second=other,
            first_count=len(one),
            second_count=len(other),
            partial=False,
        )

    def drop(self, table: object) -> None:
        """Forget it."""
        self.tables.pop(str(table), None)


def _replaced(table: list[Row], rows: list[Row], window: Window) -> list[Row]:
    first, last = window.start.date().isoformat(), window.end.date().isoformat()
    return [row for row in table if not first <= row[0] < last] + rows


def tried(
    tables: MemoryTables,
    reading: Reading | None = None,
    checks: Sequence[str] = (),
    *,
    threaded: bool = False,
) -> dict[str, Any]:
    """The findings of a trial, by check."""
    task = Maker.task()
    chosen = [name for name in chosen_checks(checks, command=False) if name != "plan"]
    copies = Copies(tables, task)  # type: ignore[arg-type]
    trial = Trial(
        copies=copies,
        windows=trial_windows(task, "2026-04-25", chosen),
        checks=chosen,
        reading=reading or Reading(),
        clues=(),
        recorder=Recorder(),
        threaded=threaded,
        other_hash_seed=lambda: "another order",
    )
    trial.carry_out()
    sound = not any(found.state == "failed" for found in trial.findings)
    assert (trial.checksum or "").startswith("ck1:3:") or not sound
    copies.drop()
    assert not tables.tables
    assert {found.check for found in trial.findings} == set(chosen)
    return {found.check: found for found in trial.findings}


def states(found: dict[str, Any], *but: str) -> set[str]:
    """The states of all checks but some."""
    return {finding.state for name, finding in found.items() if name not in but}


def test_a_sound_task_passes_every_check_in_ten_runs_and_two_that_die() -> None:
    """The checks share their runs; copies are dropped."""
    tables = MemoryTables()
    found = tried(tables)
    assert states(found) == {"passed"}
    assert found["ten"].found == "10 runs on two copies, 6 of them of one window: one content"
    assert (tables.runs, len(tables.commits)) == (12, 10)


def test_the_reference_may_be_made_in_another_thread() -> None:
    """The findings are the same."""
    assert states(tried(MemoryTables(), threaded=True)) == {"passed"}


def test_code_that_cannot_bear_another_thread_is_not_accused() -> None:
    """Its reference is made again, in the thread in which a run would be."""
    tables = MemoryTables()

    def only_here(_own: MemoryTables, _window: Window) -> int:
        if threading.current_thread() is not threading.main_thread():
            raise TransformFailed("no session in this thread")
        return 0

    tables.value = only_here
    found = tried(tables, threaded=True)
    assert states(found) == {"passed"}
    assert int(found["ten"].found.split()[0]) >= 10


def test_a_counter_fails_two_runs_and_the_rest_is_left_out() -> None:
    """Nothing more can be proven of it."""
    tables = MemoryTables()
    tables.value = lambda own, _window: own.runs
    found = tried(tables)
    assert found["two"].state == "failed"
    assert found["two"].difference.columns == ("value",)
    assert states(found, "two", "effects") == {"left out"}


def test_an_append_fails_two_runs() -> None:
    """With the rows that were added again."""
    tables = MemoryTables()
    tables.write = lambda table, rows, _window: table + rows
    assert tried(tables)["two"].cause.kind == "append"


def test_half_a_write_fails_crash_alone() -> None:
    """Rows of the dead attempt are still there after the retry."""
    tables = MemoryTables()
    tables.leaves_half = True
    tables.write = lambda table, rows, window: (
        [row for row in _replaced(table, [], window) if row[1] != "half"]
        + [row for row in table if row[1] == "half"]
        + rows
    )
    found = tried(tables)
    assert found["crash"].state == "failed"
    assert states(found, "crash") == {"passed"}


def test_a_write_that_clears_its_neighbours_fails() -> None:
    """Each run leaves its own window only."""
    tables = MemoryTables()
    tables.write = lambda _table, rows, _window: rows
    found = tried(tables, checks=["two", "neighbours", "order"])
    assert [found[name].state for name in ("two", "neighbours")] == ["passed", "failed"]
    assert found["neighbours"].cause.kind == "scope"


def test_a_result_that_depends_on_what_ran_before_fails_order() -> None:
    """The first window to arrive gets the first number."""
    tables = MemoryTables()
    numbers: dict[int, dict[str, int]] = {}

    def numbered(own: MemoryTables, window: Window) -> int:
        known = numbers.setdefault(len(own.tables), {})
        return known.setdefault(window.ds, len(known))

    tables.value = numbered
    found = tried(tables, checks=["two", "order"])
    assert (found["two"].state, found["order"].state) == ("passed", "failed")


@pytest.mark.parametrize(
    ("value", "check"),
    [
        (lambda own, _window: own.arrangement, "partitioning"),
        (lambda _own, _window: datetime.now(timezone.utc).date().isoformat(), "clock"),
        (lambda _own, _window: os.environ.get("SHOP_RATE"), "environment"),
    ],
)
def test_a_condition_that_decides_the_rows_fails_its_own_check_alone(
    value: Callable[[MemoryTables, Window], object], check: str
) -> None:
    """All conditions are tried at once, and told apart when the rows differ."""
    tables = MemoryTables()
    tables.value = value
    found = tried(tables, Reading(variables=("SHOP_RATE",)))
    assert found[check].state == "failed"
    assert states(found, check) == {"passed"}


def test_windows_that_cannot_run_together_are_noted_only() -> None:
    """A label of the window is sound, and not separable."""
    tables = MemoryTables()
    tables.value = lambda _own, window: window.ds
    found = tried(tables)
    assert found["batch"].state == "noted"
    assert states(found, "batch") == {"passed"}


def test_windows_that_fail_together_are_run_one_by_one() -> None:
    """Why they cannot is told, and nothing else is held against the task."""
    tables = MemoryTables()

    def alone(_own: MemoryTables, window: Window) -> int:
        if (window.end - window.start).days > 1:
            raise GateFailed("keys occur twice", gate="unique", expected="one row", found="two")
        return 0

    tables.value = alone
    found = tried(tables)
    assert found["batch"].state == "noted"
    assert "keys occur twice" in found["batch"].found
    assert states(found, "batch") == {"passed"}


def test_what_is_sent_by_the_second_run_fails_effects() -> None:
    """It is recorded, and does not leave the machine."""
    import urllib.request

    def telling(_own: MemoryTables, _window: Window) -> int:
        urllib.request.urlopen(urllib.request.Request("http://127.0.0.1:9/", data=b"{}"))
        return 0

    tables = MemoryTables()
    tables.value = telling
    found = tried(tables, checks=["two", "effects"])
    assert found["effects"].state == "failed"
    assert "POST http://127.0.0.1:9/" in found["effects"].found


def test_clocks_in_workers_and_sets_are_judged_by_the_code() -> None:
    """No clock can be moved there; a set is tried in another process."""
    code = "@udf\ndef f(x):\n    return date.today()\ndef g():\n    return list({1, 2})\n"
    found = tried(MemoryTables(), read_python(code, path="t.py"))
    assert found["clock"].state == "failed"
    assert found["clock"].cause.where == "t.py:3"
    assert found["environment"].found == "another order"
    assert found["environment"].cause.kind == "hash order"
