"""Trying a task out on copies of its target.

In one copy each window is set once, two of them together: the reference. Another copy runs them
one by one, backward, twice, rearranged, under another clock, and dies in between; whatever is done
to it, it must hold the same rows. As long as it does, one comparison answers several checks; only a
difference is looked into.
"""

from __future__ import annotations

import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from setpoint.engine.spark.trial_engine import Arrangement
from setpoint.errors import RunError, SetpointError
from setpoint.model.plan import WHOLE_TABLE
from setpoint.model.write import window_column
from setpoint.verifying.beside import Beside
from setpoint.verifying.cause import Clue, likely_cause
from setpoint.verifying.conditions import another_day, another_environment, another_zone
from setpoint.verifying.difference import Difference, compare_table
from setpoint.verifying.rows import Rows
from setpoint.verifying.verdict import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Future
    from contextlib import AbstractContextManager

    from setpoint.model.window import Window
    from setpoint.verifying.cause import Cause
    from setpoint.verifying.code_reading import Reading
    from setpoint.verifying.copies import Copies, Copy
    from setpoint.verifying.recorder import Recorder
    from setpoint.verifying.trial_windows import TrialWindows
    from setpoint.verifying.verdict import State

TEN, FEW = 10, 5
DIED = "died before, during and after the write; the retries set it right"
DIFFER = "two runs already differ"
ARRANGEMENTS = (
    Arrangement(
        seed=1,
        conf={"spark.sql.shuffle.partitions": "1", "spark.sql.adaptive.enabled": "true"},
    ),
    Arrangement(
        seed=2,
        conf={"spark.sql.shuffle.partitions": "7", "spark.sql.adaptive.enabled": "false"},
    ),
)


@dataclass(kw_only=True)
class Trial:
    """One task, its copies, and what was found so far."""

    copies: Copies
    windows: TrialWindows
    checks: Sequence[str]
    reading: Reading
    clues: Sequence[Clue]
    recorder: Recorder
    key: Sequence[str] = ()
    say: Callable[[str], None] = lambda _text: None
    other_hash_seed: Callable[[], str | None] = lambda: None
    """Builds the plan in another process; what differs there, in words."""
    findings: list[Finding] = field(default_factory=list)
    threaded: bool = False
    """Make the reference beside the rest, in a thread of its own."""
    checksum: str | None = None
    empty: bool = False
    """The window asked for has no rows: little can be proven by it."""
    separable: bool = False
    """Two windows set at once give the rows of each alone."""
    inseparable: str | None = None
    """Why two windows could not be set at once."""

    def carry_out(self) -> None:
        """Make the checks; raises when the task fails by itself."""
        self._begun = time.monotonic()
        with self.recorder.listening(), Beside(threaded=self.threaded) as beside:
            self.copy, self.reference = self.copies.copy(), self.copies.copy(beside=True)
            referred = beside.do(self._refer)
            if not self._repeated(referred):
                self._leave_out()
            else:
                self._further(beside)
            self._effects()

    def _further(self, beside: Beside) -> None:
        """What can only be asked of a task that two runs have not shown to be broken."""
        # A reference that had to be made again belongs to this thread.
        aside = self.reference.engine is not self.copies.engine
        again = beside.do(self._again) if aside else None
        summed = beside.do(self._summed) if aside else None
        self._batch()
        self._elsewhere()
        self._crash()
        done = False
        if again is not None and again.exception() is None:
            done = again.result() in (None, self.expected)
        self._month(already=done)
        self._ten(already=done)
        with suppress(SetpointError):  # some types have no place in a checksum
            self.checksum = summed.result() if summed is not None else self._summed()

    def _refer(self) -> tuple[bool, dict[str, str]]:
        """Set each window once: were the last two set together, and what does it hold then."""
        windows: Sequence[Window | None] = self.windows.all or (None,)
        union = self.windows.union if "batch" in self.checks and not self._whole() else None
        with self.recorder.first_run():
            if union is not None:
                try:
                    self.copies.run(self.reference, union)
                    windows = [window for window in (self.windows.month,) if window is not None]
                except RunError as error:
                    # Nothing was written. If the task fails by itself, it does so again below.
                    self.inseparable, union = error.message, None
            for window in windows:
                self.copies.run(self.reference, window)
        return union is not None, self._contents(self.reference)

    def _again(self) -> dict[str, str] | None:
        """A month ago again, and what is missing of ten runs; what the reference holds then."""
        month = self.windows.month if "month" in self.checks else None
        others: list[Window | None] = [month] if month is not None else []
        if "ten" in self.checks:
            elsewhere = {"partitioning", "clock", "environment"} & set(self.checks)
            mains = 2 + bool(elsewhere) + ("partitioning" in elsewhere)
            ran = mains + len(self.windows.all[:-1]) + len(others)
            missing = TEN - ran - len(self.reference.sets), FEW - mains - 1
            others += [self.windows.main] * max(*missing, 0)
        for window in others:
            self.copies.run(self.reference, window)
        return self._contents(self.reference) if others else None

    def _summed(self) -> str:
        """The checksum of the window asked for, as `run --checksum` would record it."""
        reference = self.reference
        return reference.engine.checksum(reference.task, self.windows.main, None)

    def _referred(self, referred: Future[tuple[bool, dict[str, str]]]) -> bool:
        """Take the reference over; whether its last two windows were set at once."""
        try:
            together, self.expected = referred.result()
        except SetpointError:
            if not self.threaded:
                raise
            # It may be the other thread that the task's code cannot bear: once more, in this one.
            self.reference = self.copies.copy()
            together, self.expected = self._refer()
        self.empty = self._own_label() not in self.expected
        return together

    def _apart(self) -> None:
        """Make the reference anew, one window after the other, forward: to tell what differs."""
        self.say("the reference again, window by window")
        before = self.expected
        self.reference = self.copies.copy()
        for window in self.windows.all or (None,):
            self.copies.run(self.reference, window)
        self.expected = self._contents(self.reference)
        self.separable = before == self.expected

    def _repeated(self, referred: Future[tuple[bool, dict[str, str]]]) -> bool:
        """Backward, the window asked for twice: equal to the reference, or looked into.

        The second of the two is a retry of runs that died, which then need no check of their own.
        """
        dying = "crash" in self.checks
        self.say("each window once; beside that backward, the last one twice")
        if dying:
            self._die_and_retry()
        now = self._backward(already=dying)
        self.separable = together = self._referred(referred)
        if now != self.expected and self._changes_again(now):
            return False
        if now != self.expected and together:
            self._apart()
        if now != self.expected and dying:
            difference = self._difference()
            self.copy = self.copies.copy()
            now = self._backward()
            if now == self.expected:
                self._failed("crash", difference)
        elif now == self.expected and dying:
            self._passed("crash", DIED)
        if now != self.expected:
            return self._looked_into(now)
        self._passed("two", "both runs left the same rows")
        if self.windows.before is None:
            for name in ("neighbours", "order"):
                self._found(name, "left out", "the task has no windows")
        else:
            self._passed("order", "together, backward and mixed give one table")
            self._passed("neighbours", "other windows kept their rows")
        return True

    def _changes_again(self, now: dict[str, str]) -> bool:
        """Whether one more run changes the rows of its window alone: then the case is clear."""
        difference, own = self._difference(), self._own_label()
        self._run(self.windows.main)
        again = self._contents()
        changed = {label for label in {*now, *again} if now.get(label) != again.get(label)} == {own}
        if changed:
            self._failed("two", difference)
        return changed

    def _backward(self, *, already: bool = False) -> dict[str, str]:
        """The windows of the copy from the last to the first; what it holds then."""
        if not already:
            self._run(self.windows.main)
            self._run(self.windows.main)
        for window in reversed(self.windows.all[:-1]):
            self._run(window)
        return self._contents()

    def _die_and_retry(self) -> None:
        """Die before and during a write, and be retried; die after the commit, and be adopted."""
        main = self.windows.main
        self.copies.die(self.copy, main, "before the write")
        self.copies.die(self.copy, main, "while writing")
        self._run(main)
        self.copies.die(self.copy, main, "after the commit")
        self.copies.run(self.copy, main)  # which finds the commit, and writes nothing

    def _looked_into(self, now: dict[str, str]) -> bool:
        """The copy is not what the reference is: is it the second run, or the order?"""
        difference = self._difference()
        self._run(self.windows.main)
        again = self._contents()
        own = self._own_label()
        others = {*now, *again} - {own}
        if any(again.get(label) != now.get(label) for label in others):
            self._failed("neighbours", difference)
            self._found("order", "left out", "windows do not stay apart")
        elif again.get(own) != now.get(own) or self.windows.before is None or self._still_differs():
            self._failed("two", difference)
            return False
        else:
            self._failed("order", difference)
            self._passed("neighbours", "other windows kept their rows")
        self._passed("two", "both runs left the same rows")
        self.expected = self._contents()
        return True

    def _still_differs(self) -> bool:
        """Whether the same order on a fresh copy gives other rows: then order is not the cause."""
        fresh = self.copies.copy()
        for window in self.windows.all:
            self.copies.run(fresh, window)
        return self.copies.engine.contents(fresh.task, self.windows.all) != self.expected

    def _elsewhere(self) -> None:
        """Rearranged, on another day, in another place: all at once, one by one if need be."""
        engine = self.copies.engine
        conditions: dict[str, Sequence[Callable[[], AbstractContextManager[None]]]] = {
            "partitioning": [lambda: engine.arranged(ARRANGEMENTS[1])],
            "clock": [lambda: engine.under(another_day), lambda: engine.under(another_zone)],
            "environment": [
                lambda: engine.under(lambda: another_environment(self.reading.variables))
            ],
        }
        wanted = {name: each for name, each in conditions.items() if name in self.checks}
        if not wanted:
            return
        self.say("input rearranged, on another day, in another place")
        with ExitStack() as stack:
            for several in wanted.values():
                stack.enter_context(several[0]())
            same = self._same_after_run()
        if "partitioning" in wanted:
            first = self._holds("partitioning", engine.arranged(ARRANGEMENTS[0]))
            if first and (same or self._holds("partitioning", conditions["partitioning"][0]())):
                self._passed("partitioning", "two other orders and divisions of the input")
        for name in ("clock", "environment"):
            if name in wanted and (same or all(self._holds(name, c()) for c in wanted[name])):
                self._unnoticed(name)

    def _unnoticed(self, name: str) -> None:
        """A condition made no difference to the rows; what workers read is not moved with it."""
        clue = next((each for each in self.reading.in_workers if each.kind == name), None)
        if clue is not None:
            cause = likely_cause(name, None, [clue])
            self._found(name, "failed", f"{clue.where}: {clue.words}", cause=cause)
        elif name == "environment":
            self._hash_seed()
        else:
            self._passed(name, "the same 33 days later and in another time zone")

    def _hash_seed(self) -> None:
        clue = next((each for each in self.reading.clues if each.kind == "hash order"), None)
        if clue is not None:
            self.say("with another hash seed, in a process of its own")
            words = self.other_hash_seed()
            if words is not None:
                cause = likely_cause("environment", None, [clue])
                self._found("environment", "failed", words, cause=cause)
                return
        listed = ", ".join(("TZ", "locale", *self.reading.variables))
        self._passed("environment", f"other values of {listed}, the same rows")

    def _crash(self) -> None:
        """Only where it was not answered with the second run already."""
        if "crash" not in self.checks or any(each.check == "crash" for each in self.findings):
            return
        self.say("killed before, during and after the write, and tried again")
        self._die_and_retry()
        if self._contents() == self.expected:
            self._passed("crash", DIED)
        else:
            self._failed("crash", self._difference())
            self._heal()

    def _batch(self) -> None:
        """What the reference has told already."""
        if self.windows.union is None or self._whole():
            self._found("batch", "left out", "its windows cannot be told apart in the table")
        elif self.separable:
            self._passed("batch", "separable: windows may run together")
        else:
            why = self.inseparable or "a backfill runs its windows one by one"
            self._found("batch", "noted", f"not separable: {why}")

    def _month(self, *, already: bool) -> None:
        """Set a window of a month ago again, unless that was done beside and left the same rows."""
        if "month" not in self.checks:
            return
        month = self.windows.month
        if month is None:
            self._found("month", "left out", "the task has no windows")
            return
        if not already:
            self.say(f"{month.label} again")
            self._run(month)
        if already or self._contents() == self.expected:
            self._passed("month", f"{month.label} was set again, all else stayed")
        else:
            self._failed("month", self._difference())
            self._heal()

    def _ten(self, *, already: bool) -> None:
        """Run until there were ten runs in all, if they were not had already."""
        if "ten" not in self.checks:
            return
        self.say("ten runs in all")
        while self.ran < TEN or self.mains < FEW:
            already = False
            self._run(self.windows.main)
        if already or self._contents() == self.expected:
            words = f"{self.ran} runs on two copies, {self.mains} of them of one window"
            self._passed("ten", f"{words}: one content")
        else:
            self._failed("ten", self._difference())

    @property
    def ran(self) -> int:
        """How often a window was set on the copies."""
        return len(self.reference.sets) + len(self.copy.sets)

    @property
    def mains(self) -> int:
        """How often the window asked for was."""
        own = (self.windows.main, self.windows.union)
        return sum(window in own for window in (*self.reference.sets, *self.copy.sets))

    def _effects(self) -> None:
        if "effects" not in self.checks:
            return
        again = [*self.recorder.sent, *self.copies.said_again]
        if again:
            clues = [clue for clue in self.reading.clues if clue.kind == "effect"]
            words = f"the second run sent again: {again[0]}"
            self._found("effects", "failed", words, cause=likely_cause("effects", None, clues))
        else:
            self._passed("effects", "nothing was sent by the second run")

    def _leave_out(self) -> None:
        done = {found.check for found in self.findings} | {"plan", "effects"}
        for name in self.checks:
            if name not in done:
                self._found(name, "left out", DIFFER)

    def _holds(self, check: str, condition: AbstractContextManager[None]) -> bool:
        """Whether a run under a condition leaves the same rows; a difference is a finding."""
        with condition:
            same = self._same_after_run()
        if same:
            return True
        if self._error is not None:
            # Another value made the task fail: nothing was set, and nothing is proven.
            self._found(check, "noted", f"the task fails then: {self._error.message}")
            return False
        self._failed(check, self._difference())
        self._heal()
        return False

    def _same_after_run(self) -> bool:
        self._error: SetpointError | None = None
        try:
            self._run(self.windows.main)
        except SetpointError as error:
            self._error = error
            return False
        return self._contents() == self.expected

    def _heal(self) -> None:
        """Set the windows of the copy again, so that the next check starts from right rows."""
        for window in self.windows.all[:-1]:
            self._run(window)
        self._run(self.windows.main)
        self.expected = self._contents()

    def _run(self, window: Window | None) -> None:
        self.copies.run(self.copy, window)

    def _contents(self, copy: Copy | None = None) -> dict[str, str]:
        read = copy or self.copy
        return read.engine.contents(read.task, self.windows.all)

    def _whole(self) -> bool:
        """Whether the windows of the task cannot be told apart in its table."""
        return window_column(self.copy.task.write) is None

    def _own_label(self) -> str:
        main = self.windows.main
        return WHOLE_TABLE if self._whole() or main is None else main.label

    def _difference(self) -> Difference | None:
        """What the copy holds other than the reference."""
        found = self.copies.engine.differing(self.reference.task, self.copy.task)
        first, second = Rows.of(found.columns, found.first), Rows.of(found.columns, found.second)
        if found.partial:
            first = Rows(
                columns=first.columns, counted=first.counted, partial=True, total=found.first_count
            )
            second = Rows(
                columns=second.columns,
                counted=second.counted,
                partial=True,
                total=found.second_count,
            )
        name = str(self.reference.task.name)
        return compare_table(name, first, second, self.key)

    def _passed(self, check: str, words: str) -> None:
        self._found(check, "passed", words)

    def _failed(self, check: str, difference: Difference | None) -> None:
        words = difference.words if difference else "the rows are others than before"
        clues = [*self.clues, *self.reading.clues]
        cause = likely_cause(check, difference, clues)
        self._found(check, "failed", words, difference=difference, cause=cause)

    def _found(
        self,
        check: str,
        state: State,
        words: str,
        *,
        difference: Difference | None = None,
        cause: Cause | None = None,
    ) -> None:
        if check not in self.checks:
            return
        now = time.monotonic()
        spent, self._begun = now - self._begun, now
        self.findings.append(
            Finding(
                check=check,
                state=state,
                found=words,
                seconds=spent,
                difference=difference,
                cause=cause,
            )
        )
