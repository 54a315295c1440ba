"""Trying a command out: twice, ten times, killed, for other dates, under another clock.

The targets are kept first and put back at the end, whatever happens in between.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta, timezone
from random import Random
from typing import TYPE_CHECKING

from setpoint.errors import UsageError
from setpoint.verifying.cause import WORDS, Cause, Clue, likely_cause
from setpoint.verifying.difference import Difference, compare
from setpoint.verifying.verdict import Finding, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from setpoint.verifying.blackbox.command import Command, Ran
    from setpoint.verifying.blackbox.destination import Destination
    from setpoint.verifying.rows import Tables
    from setpoint.verifying.verdict import State

TEN = 10
KILLS = 3
MONTH = timedelta(days=30)
ANOTHER_PLACE = {
    "TZ": "Pacific/Kiritimati",
    "LC_ALL": "C.UTF-8",
    "LANG": "tr_TR.UTF-8",
    "PYTHONHASHSEED": "4711",
}
DIFFER = "left out: two runs already differ"


@dataclass(kw_only=True)
class Trial:
    """One command, its targets, and what was found so far."""

    command: Command
    destinations: Sequence[Destination]
    checks: Sequence[str]
    ds: str
    sent: list[str] = field(default_factory=list)
    """What receivers heard; grows while the command runs."""
    recording: bool = False
    clues: Sequence[Clue] = ()
    kills: int = KILLS
    seed: int = 0
    say: Callable[[str], None] = lambda _text: None
    findings: list[Finding] = field(default_factory=list)
    runs: int = 0
    torn: Difference | None = None

    def verdict(self) -> Verdict:
        """Make the checks; the targets are as before when this returns."""
        begun = time.monotonic()
        self._begun = begun
        at = datetime.now(timezone.utc)
        kept = [each.keep() for each in self.destinations]
        error, checksum = None, None
        try:
            error, checksum = self._tried(kept)
        finally:
            self.say("putting the targets back")
            for each, copy in zip(self.destinations, kept, strict=True):
                each.restore(copy)
                each.close()
            self.say("done")
        return Verdict(
            subject=self.command.line,
            targets=tuple(each.name for each in self.destinations),
            findings=tuple(
                sorted(self.findings, key=lambda found: list(self.checks).index(found.check))
            ),
            window=self.ds,
            at=at,
            seconds=time.monotonic() - begun,
            runs=self.runs,
            error=error,
            checksum=checksum,
            notes=self._notes(),
            next_step="mend the command, or give --setup what it needs" if error else None,
        )

    def _tried(self, kept: Sequence[object]) -> tuple[str | None, str | None]:
        self._kept = kept
        start = self._read()
        self.say(f"run 1 for {self.ds}")
        first = self._run(self.ds)
        if not first.ok:
            return f"the command fails by itself (exit code {first.code}): {first.said}", None
        self._usual = first.seconds
        once = self._read()
        sent_once = len(self.sent)
        self._text()
        steady = self._two(once, sent_once)
        self._ten(once, steady)
        self._readers(start, once, steady)
        self._crash(start, once)
        self._dates(steady)
        self._clock(steady)
        self._environment(once, steady)
        self._close_readers()
        return None, ", ".join(rows.checksum for rows in once.values()) or None

    def _text(self) -> None:
        """What only the text can tell: a run empties no date unless its source did."""
        if "text" not in self.checks:
            return
        told = next((clue for clue in self.clues if clue.kind == "emptied"), None)
        if told is None:
            self._found("text", "passed", "nothing beyond what the runs show")
        else:
            cause = likely_cause("text", None, [told])
            self._found("text", "failed", f"{told.where}: {told.words}", cause=cause)

    def _two(self, once: Tables, sent_once: int) -> bool:
        self.say("run 2")
        second = self._run(self.ds, watched=True)
        steady = self._compared("two", once, second, f"{_count(once)} rows, the same twice")
        again = len(self.sent) - sent_once
        if "effects" not in self.checks:
            return steady
        if again and self.recording:
            words = f"the second run sent again: {self.sent[sent_once]}"
            cause = likely_cause("effects", None, [c for c in self.clues if c.kind == "effect"])
            self._found("effects", "failed", words, cause=cause)
        elif self.recording:
            self._found("effects", "passed", f"{sent_once} sent by the first run, none after")
        else:
            told = next((clue for clue in self.clues if clue.kind == "effect"), None)
            words = f"not recorded; {told.where}: {told.words}" if told else "not recorded"
            self._found("effects", "noted" if told else "left out", words)
        return steady

    def _ten(self, once: Tables, steady: bool) -> None:  # noqa: FBT001
        if "ten" not in self.checks:
            return
        if not steady:
            self._found("ten", "left out", DIFFER)
            return
        for number in range(3, TEN + 1):
            self.say(f"run {number}")
            ran = self._run(self.ds, watched=True)
            if not self._compared("ten", once, ran, "", silent=True):
                return
        self._found("ten", "passed", "ten runs, one content")

    def _readers(self, start: Tables, once: Tables, steady: bool) -> None:  # noqa: FBT001
        """Kill when the first change is visible: what is there then is what readers saw."""
        if not {"readers", "crash"} & set(self.checks):
            return
        self._restore()
        self.say("killing it at its first visible change")
        self._killed_at_change(start, once, "crash")
        if steady:
            self._restore()
            self._run(self.ds)
            self._killed_at_change(once, once, "crash")

    def _killed_at_change(self, before: Tables, after: Tables, check: str) -> None:
        glances = [each.glance() for each in self.destinations]

        def changed(_passed: float) -> bool:
            return [each.glance() for each in self.destinations] != glances

        self.runs += 1
        ran = self.command.run(self.ds, stop=changed)
        state = self._read()
        if compare(before, state) is not None and compare(after, state) is not None:
            nearer = before if _count(before) else after
            self.torn = self.torn or compare(nearer, state)
        self._retried(check, after, f"killed {ran.seconds:.2f} s after its start")

    def _crash(self, start: Tables, once: Tables) -> None:
        if "crash" not in self.checks:
            return
        chance = Random(self.seed)  # noqa: S311 — a moment to kill at, to be had again
        for number in range(self.kills):
            if any(found.check == "crash" for found in self.findings):
                return
            moment = self._usual * chance.uniform(0.05, 0.95)
            self.say(f"killing it after {moment:.2f} s ({number + 1} of {self.kills})")
            self._restore()
            self.runs += 1
            self.command.run(self.ds, stop=moment.__le__)
            state = self._read()
            if compare(start, state) is not None and compare(once, state) is not None:
                self.torn = self.torn or compare(once, state)
            self._retried("crash", once, f"killed after {moment:.2f} s")
        if not any(found.check == "crash" for found in self.findings):
            self._found("crash", "passed", f"killed {self.kills + 1} times and tried again")

    def _retried(self, check: str, expected: Tables, how: str) -> None:
        if check not in self.checks or any(found.check == check for found in self.findings):
            return
        ran = self._run(self.ds)
        difference = compare(expected, self._read())
        if not ran.ok:
            words = f"{how}; the retry failed: {_last_line(ran.said)}"
            self._found(check, "failed", words, cause=likely_cause(check, None, self.clues))
        elif difference is not None:
            words = f"{how}; after the retry {difference.words}"
            self._failed(check, words, difference)

    def _dates(self, steady: bool) -> None:  # noqa: FBT001
        wanted = [name for name in ("neighbours", "order", "month") if name in self.checks]
        reason = None if steady else DIFFER
        if not self.command.dated:
            reason = "left out: the command takes no date (no {ds} in it), so no old one can be run"
        if reason or not wanted:
            for name in wanted:
                self._found(name, "left out", reason or "")
            return
        day = date.fromisoformat(self.ds)
        before, old = (day - timedelta(days=1)).isoformat(), (day - MONTH).isoformat()
        self._restore()
        self._run(self.ds)
        self.say(f"the day before, {before}")
        ran = self._run(before)
        if not ran.ok:
            for name in wanted:
                self._found(name, "left out", f"it fails for {before}: {_last_line(ran.said)}")
            return
        both = self._read()
        if "neighbours" in self.checks:
            ran = self._run(self.ds)
            good = f"{before} and {self.ds} stay apart"
            self._compared("neighbours", both, ran, good, extra="after the other date: ")
        if "order" in self.checks:
            self._restore()
            self.say("the dates in another order")
            self._run(before)
            self._compared("order", both, self._run(self.ds), "both orders give one content")
        if "month" in self.checks:
            self.say(f"a month ago, {old}")
            ran = self._run(old)
            if not ran.ok:
                self._found("month", "left out", f"it fails for {old}: {_last_line(ran.said)}")
                return
            content = self._read()
            self._compared("month", content, self._run(old), f"{old} was set twice, added once")

    def _clock(self, steady: bool) -> None:  # noqa: FBT001
        if "clock" not in self.checks:
            return
        # Only what the audit itself finds: a clock that is read for a log is none.
        told = next((clue for clue in self.clues if clue.kind == "clock" and clue.fix), None)
        if not steady:
            self._found("clock", "left out", DIFFER)
            return
        day = datetime.fromisoformat(self.ds).replace(tzinfo=timezone.utc)
        states = []
        for days in (1, 31):
            self._restore()
            clock = (day + timedelta(days=days, hours=3)).isoformat()
            self.say(f"with the clock at {clock}")
            self.runs += 1
            ran = self.command.run(self.ds, clock=clock)
            if not (ran.ok and ran.moved):
                self._unmoved(told)
                return
            states.append((clock, self._read()))
        difference = compare(states[0][1], states[1][1])
        if difference is None and told is None:
            self._found("clock", "passed", f"the same at {states[0][0]} and {states[1][0]}")
        elif difference is None:
            self._unmoved(told)
        else:
            self._failed("clock", f"a month later {difference.words}", difference)

    def _unmoved(self, told: Clue | None) -> None:
        """The clock of the command could not be moved, or what reads it is out of reach."""
        if told is None:
            self._found("clock", "left out", "its clock cannot be moved from outside")
            return
        cause = likely_cause("clock", None, [told])
        self._found("clock", "failed", f"{told.where} reads the clock", cause=cause)

    def _environment(self, once: Tables, steady: bool) -> None:  # noqa: FBT001
        if "environment" not in self.checks:
            return
        if not steady:
            self._found("environment", "left out", DIFFER)
            return
        self.say("in another time zone, with another locale and hash seed")
        self._restore()
        self.runs += 1
        ran = self.command.run(self.ds, variables=ANOTHER_PLACE)
        self._compared("environment", once, ran, "TZ, locale and hash seed changed nothing")

    def _close_readers(self) -> None:
        if "readers" not in self.checks:
            return
        if self.torn is not None:
            words = f"a reader saw neither the old rows nor the new ones: {self.torn.words}"
            clues = [c for c in self.clues if c.kind in ("torn write", "append", "emptied")]
            cause = likely_cause("readers", None, clues)
            self._found("readers", "failed", words, difference=self.torn, cause=cause)
        else:
            self._found("readers", "passed", "old rows or new ones, whenever somebody looked")

    def _run(self, ds: str, *, watched: bool = False) -> Ran:
        self.runs += 1
        if not watched or "readers" not in self.checks or self.torn is not None:
            return self.command.run(ds)
        before = self._read()
        glances = [each.glance() for each in self.destinations]
        caught: list[Tables] = []

        def look(_passed: float) -> bool:
            if not caught and [each.glance() for each in self.destinations] != glances:
                caught.append(self._read())
            return False

        with contextlib.ExitStack() as stack:
            between = [stack.enter_context(each.between()) for each in self.destinations]
            ran = self.command.run(ds, stop=look)
        after = self._read()
        for each, states, glance in zip(self.destinations, between, glances, strict=True):
            self._look_between(each, states, (glance, each.glance()))
        if ran.ok and caught and compare(before, caught[0]) and compare(after, caught[0]):
            self.torn = compare(before, caught[0])
        return ran

    def _look_between(
        self, place: Destination, states: Sequence[object], edges: tuple[object, object]
    ) -> None:
        """Whether a state between two transactions was neither the old one nor the new."""
        odd = next((state for state in states if state not in edges), None)
        if odd is None or self.torn is not None:
            return
        before, meanwhile = _glance_count(edges[0]), _glance_count(odd)
        self.torn = Difference(
            table=place.name,
            kind="lost" if meanwhile < before else "added",
            before=before,
            after=meanwhile,
            rows=abs(meanwhile - before),
        )

    def _compared(
        self,
        check: str,
        expected: Tables,
        ran: Ran,
        good: str,
        *,
        silent: bool = False,
        extra: str = "",
    ) -> bool:
        """Compare what is there now with what should be; the finding is kept."""
        difference = compare(expected, self._read())
        if check not in self.checks:
            return ran.ok and difference is None
        if not ran.ok:
            words = f"the run failed: {_last_line(ran.said)}"
            clues = _said_clues(ran.said) or self.clues
            self._found(check, "failed", words, cause=likely_cause(check, None, clues))
            return False
        if difference is not None:
            self._failed(check, extra + difference.words, difference)
            return False
        if not silent:
            self._found(check, "passed", good)
        return True

    def _failed(self, check: str, words: str, difference: Difference) -> None:
        cause = likely_cause(check, difference, self.clues)
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
        now = time.monotonic()
        spent, self._begun = now - self._begun, now
        self.findings.append(
            Finding(
                check=check,
                state=state,
                found=words.removeprefix("left out: "),
                seconds=spent,
                difference=difference,
                cause=cause,
            )
        )

    def _read(self) -> Tables:
        tables: Tables = {}
        for each in self.destinations:
            tables |= each.read()
        return tables

    def _restore(self) -> None:
        for each, copy in zip(self.destinations, self._kept, strict=True):
            each.restore(copy)

    def _notes(self) -> tuple[str, ...]:
        return () if self.command.dated else ("the command takes no date: it cannot be backfilled",)


def _said_clues(said: str) -> list[Clue]:
    """What the message of a failed second run tells."""
    lowered = said.lower()
    marks = ("duplicate key", "unique constraint", "second time", "already exists")
    if any(mark in lowered for mark in marks):
        kind = "key" if "second time" in lowered else "append"
        return [Clue(kind=kind, words=WORDS[kind], where=None, fix=None)]
    return []


def _last_line(said: str) -> str:
    lines = [line for line in said.splitlines() if line.strip()]
    told = [line for line in lines if "rror" in line.partition(":")[0] and line[0] != " "]
    return (told or lines or ["it said nothing"])[-1].strip()


def _glance_count(glance: object) -> int:
    return sum(found[0] for found in glance.values()) if isinstance(glance, dict) else 0


def _count(tables: Tables) -> int:
    return sum(rows.count for rows in tables.values())


def check_ds(ds: str) -> str:
    """A date as the command gets it."""
    try:
        return date.fromisoformat(ds).isoformat()
    except ValueError:
        raise UsageError(f"--ds {ds} is not a date", next_step="--ds 2026-04-25") from None
