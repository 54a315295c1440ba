"""The matrix: each failpoint on each pattern and target, killed there, then run again.

    python -m tests.crash.matrix            a part that touches every failpoint
    python -m tests.crash.matrix --full     everything, and pairs: killed again while recovering
    python -m tests.crash.matrix --full --only iceberg --only parquet_replace    of some

What a run passes is noted, not assumed: a clean run, one on a new table and one that fails are
traced first. Pairs are taken once for each way in which a recovery goes, which is all that can tell
two crashes apart.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tests.crash.failpoints import failpoints
from tests.crash.scene import (
    COMBINATIONS,
    DAY,
    NEIGHBOUR,
    Combination,
    Scene,
    expected_rows,
    open_servers,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

FAILING = "write.before:raise"
FEW_PAIRS = 5


@dataclass(frozen=True, kw_only=True)
class Case:
    """One way to die: where, in which situation, and perhaps where again."""

    combination: Combination
    point: str
    fresh: bool = False
    """There is no table yet."""
    failing: bool = False
    """The run fails by itself before it is killed."""
    again: str | None = None
    """Where the recovery is killed too."""

    def __str__(self) -> str:
        more = [" on a new table"] if self.fresh else []
        more += [" of a failing run"] if self.failing else []
        more += [f", then {self.again}"] if self.again else []
        return f"{self.combination.name}: {self.point}{''.join(more)}"


@dataclass(kw_only=True)
class Tally:
    """What was done, and what came out wrong."""

    cases: list[Case] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    recoveries: dict[Case, tuple[str, ...]] = field(default_factory=dict)

    @property
    def points(self) -> set[str]:
        """The failpoints at which a process was killed."""
        return {case.point for case in self.cases}


class Matrix:
    """Carries out cases on a scene."""

    def __init__(self, scene: Scene, say: Callable[[str], None]) -> None:
        self.scene = scene
        self.say = say
        self.tally = Tally()
        self._notes = 0

    def cases(
        self, combinations: Sequence[Combination], failing: Sequence[Combination]
    ) -> list[Case]:
        """Every case of a single death, from what runs of each combination pass."""
        return [case for each in combinations for case in self._cases_of(each, failing)]

    def _cases_of(self, combination: Combination, failing: Sequence[Combination]) -> list[Case]:
        """Trace a run on a new table, one that fails, and one over rows; leave a clean table."""
        scene = self.scene
        self.say(f"{combination.name}: finding what runs pass")
        scene.set_version(0)
        created = self._trace(combination, ds=NEIGHBOUR, checksum=True)
        scene.ok(combination)
        scene.next_version()
        failed = self._trace(combination, FAILING) if combination in failing else ()
        plain = self._trace(combination, checksum=True)
        found = scene.rows(combination)
        assert found == expected_rows(combination, scene.version), (combination.name, found)
        cases = [Case(combination=combination, point=name) for name in plain]
        cases += [
            Case(combination=combination, point=name, failing=True)
            for name in failed
            if name not in plain
        ]
        cases += [
            Case(combination=combination, point=name, fresh=True)
            for name in created
            if name not in plain
        ]
        return cases

    def pairs(self) -> list[Case]:
        """Cases of two deaths: for each way in which a recovery went, killed at each step of it.

        Of the first deaths that one way recovers from, the one is taken that got furthest: it left
        the most behind for the second to stumble over.
        """
        ways: dict[tuple[str, tuple[str, ...]], Case] = {}
        for case, way in self.tally.recoveries.items():
            if not case.failing or (case.combination.name, way) not in ways:
                ways[case.combination.name, way] = case
        return [
            Case(
                combination=case.combination,
                point=case.point,
                fresh=case.fresh,
                failing=case.failing,
                again=name,
            )
            for (_, way), case in ways.items()
            for name in way
        ]

    def carry_out(self, cases: Iterable[Case]) -> None:
        """Kill, run again, compare."""
        for case in cases:
            began = time.monotonic()
            problems = self._one(case)
            took = f"{time.monotonic() - began:.1f} s"
            self.say(f"{case}: {'; '.join(problems) or 'right'} ({took})")
            self.tally.cases.append(case)
            self.tally.wrong += [f"{case}: {problem}" for problem in problems]

    def _one(self, case: Case) -> list[str]:
        scene, combination = self.scene, case.combination
        scene.next_version()
        if case.fresh:
            scene.drop(combination)
        traps = f"{FAILING},{case.point}:kill" if case.failing else f"{case.point}:kill"
        killed = scene.run(combination, traps=traps, checksum=case.point.startswith("checksum"))
        if not self._died(killed.signal, case.point):
            return [f"the process was not killed: {killed}"]
        if case.again:
            killed = scene.run(combination, traps=f"{case.again}:kill")
            if not self._died(killed.signal, case.again):
                return [f"the recovery was not killed: {killed}"]
        notes = self._note_file()
        ended = scene.run(combination, traps=f"*:note:{notes}")
        if ended.answer.get("state") != "succeeded":
            return [f"the retry did not succeed: {ended}"]
        if not case.again:
            self.tally.recoveries[case] = _noted(notes)
        problems = self._compared(case)
        if case.fresh and combination.windowed:
            self._set_neighbour(combination)
        return problems

    def _died(self, got: int | None, point: str) -> bool:
        # The rows of a worker are copied by a process of the server, which dies in its place.
        return got == signal.SIGKILL or point.startswith("postgres.rows")

    def _set_neighbour(self, combination: Combination) -> None:
        version = self.scene.version
        self.scene.set_version(0)
        self.scene.ok(combination, NEIGHBOUR)
        self.scene.set_version(version)

    def _compared(self, case: Case) -> list[str]:
        """What is not as after a clean run."""
        scene, combination = self.scene, case.combination
        problems = []
        rows = scene.rows(combination)
        wanted = expected_rows(combination, scene.version, neighbours=not case.fresh)
        if rows != wanted:
            missing, surplus = Counter(wanted) - Counter(rows), Counter(rows) - Counter(wanted)
            problems.append(f"rows missing: {list(missing)[:5]}, too many: {list(surplus)[:5]}")
        run = scene.recorded(combination)
        if run is None or run.state != "succeeded":
            problems.append(f"the ledger says {run}")
        else:
            task = scene.project.graph.task(combination.name)
            commit = scene.engine.find_commit(task, run.run_id)
            if commit is None or (commit.rows, commit.snapshot) != (run.rows, run.snapshot):
                problems.append(f"the ledger has {run.rows} rows at {run.snapshot}, not {commit}")
        left = scene.orphans(combination)
        return [*problems, f"left behind: {left}"] if left else problems

    def _trace(
        self, combination: Combination, traps: str = "", ds: str = DAY, *, checksum: bool = False
    ) -> tuple[str, ...]:
        notes = self._note_file()
        text = f"*:note:{notes}" + (f",{traps}" if traps else "")
        self.scene.run(combination, ds, traps=text, checksum=checksum)
        return _noted(notes)

    def _note_file(self) -> Path:
        self._notes += 1
        return self.scene.folder / f"notes-{self._notes}"


def _noted(notes: Path) -> tuple[str, ...]:
    """The names in a file of notes, each once, in order."""
    return tuple(dict.fromkeys(notes.read_text().split()))


def covering(cases: Sequence[Case]) -> list[Case]:
    """Some of the cases: every failpoint once, spread evenly over the combinations."""
    load: Counter[str] = Counter()
    chosen = []
    for point in dict.fromkeys(case.point for case in cases):
        candidates = [case for case in cases if case.point == point]
        case = min(candidates, key=lambda each: load[each.combination.name])
        load[case.combination.name] += 1
        chosen.append(case)
    return chosen


def few(pairs: Sequence[Case], count: int) -> list[Case]:
    """Some of the pairs, taken at even distances."""
    step = max(1, len(pairs) // count)
    return list(pairs[::step])[:count]


def main() -> None:
    """Carry out the matrix, and say what came of it."""
    parser = argparse.ArgumentParser(description="Kill runs everywhere; compare what is left.")
    parser.add_argument("--full", action="store_true", help="every combination, and all pairs")
    parser.add_argument("--only", action="append", help="a target, or a pattern on one")
    given = parser.parse_args()
    chosen = tuple(
        each
        for each in COMBINATIONS
        if not given.only or {each.kind, each.name}.intersection(given.only)
    )
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="setpoint-crash-") as folder:
        (Path(folder) / "project").mkdir()
        spark, postgres = open_servers(Path(folder))
        try:
            scene = Scene(Path(folder) / "project", spark, postgres)
            try:
                tally = carried_out(
                    scene,
                    full=given.full,
                    say=lambda text: print(text, file=sys.stderr, flush=True),  # noqa: T201
                    combinations=chosen,
                )
                kills = scene.zygote.kills
            finally:
                scene.close()
        finally:
            spark.close()
            postgres.close()
    missed = set() if given.only else set(failpoints()) - tally.points
    lines = {
        "failpoints": f"{len(tally.points)} of {len(failpoints())}",
        "combinations": len({case.combination.name for case in tally.cases}),
        "cases": f"{len(tally.cases)}, pairs {sum(bool(c.again) for c in tally.cases)}",
        "kills": kills,
        "seconds": round(time.monotonic() - began),
        "wrong results": len(tally.wrong),
    }
    for name, value in lines.items():
        print(f"{name:14} {value}")  # noqa: T201 — this is what it is for
    for words in [*tally.wrong, *(f"never killed at {name}" for name in sorted(missed))]:
        print(words)  # noqa: T201
    sys.exit(bool(tally.wrong or missed))


def carried_out(
    scene: Scene,
    *,
    full: bool,
    say: Callable[[str], None],
    combinations: Sequence[Combination] = COMBINATIONS,
) -> Tally:
    """Carry out the matrix, or the part of it that touches every failpoint."""
    matrix = Matrix(scene, say)
    # How the ledger is told of a failure does not depend on the target: one is enough for a part.
    cases = matrix.cases(combinations, combinations if full else combinations[:1])
    matrix.carry_out(cases if full else covering(cases))
    pairs = matrix.pairs()
    matrix.carry_out(pairs if full else few(pairs, FEW_PAIRS))
    return matrix.tally


if __name__ == "__main__":
    main()
