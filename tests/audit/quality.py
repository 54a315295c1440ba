"""How good the audit is: run it over the labelled cases and count hits, misses and false alarms.

`python tests/audit/quality.py` prints a table a rule, for the open cases, for the held-out ones
and for all, and exits 1 when precision or recall of all is below 0.95. A case is a folder under
`cases/` with the files of a small repository and an `expect.toml`; `cases/README.md` says what
stands in it.
"""

from __future__ import annotations

import importlib
import json
import shutil
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import click
from click.testing import CliRunner

CASES = Path(__file__).parent / "cases"
BAR = 0.95
NEAR_FINDING = 2  # a hit may lie this many lines beside a finding's statement
NEAR_QUIET = 1  # and a false alarm this many beside a quiet one
COUNTED = ("error", "warning")


@dataclass(frozen=True, kw_only=True)
class Spot:
    """A labelled place in a case: something that must be found, must not be, or may be."""

    path: str
    line: int
    end_line: int
    also_lines: tuple[int, ...]
    """Other lines where the same thing may fairly be reported, such as the retries setting."""
    rules: tuple[str, ...]
    """For a finding the acceptable rules; for the others empty means any rule."""
    why: str

    def distance(self, hit: Hit) -> int | None:
        """How many lines off a hit of one of the rules is; None for another rule or file."""
        if hit.path != self.path or (self.rules and hit.rule not in self.rules):
            return None
        inside = self.line <= hit.line <= self.end_line
        edges = (self.line, self.end_line, *self.also_lines)
        return 0 if inside else min(abs(hit.line - edge) for edge in edges)

    def has_near(self, hit: Hit, reach: int) -> bool:
        """Whether a hit lies within reach."""
        distance = self.distance(hit)
        return distance is not None and distance <= reach


@dataclass(frozen=True, kw_only=True)
class Case:
    """One labelled case."""

    name: str
    folder: Path
    origin: str
    about: str
    held_out: bool
    findings: tuple[Spot, ...]
    quiets: tuple[Spot, ...]
    tolerated: tuple[Spot, ...]


@dataclass(frozen=True, kw_only=True)
class Hit:
    """What the audit reported."""

    rule: str
    severity: str
    path: str
    line: int
    message: str


@dataclass(frozen=True, kw_only=True)
class Score:
    """What came of one case."""

    case: Case
    found: tuple[Spot, ...]
    missed: tuple[Spot, ...]
    false_alarms: tuple[Hit, ...]


@dataclass(kw_only=True)
class Tally:
    """Counts by rule, added up over cases."""

    spots: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)
    false_alarms: Counter[str] = field(default_factory=Counter)

    def add(self, score: Score) -> None:
        """Count one case in."""
        for spot in (*score.case.findings, *score.case.quiets):
            self.spots[spot.rules[0] if spot.rules else "any"] += 1
        self.found.update(spot.rules[0] for spot in score.found)
        self.missed.update(spot.rules[0] for spot in score.missed)
        self.false_alarms.update(hit.rule for hit in score.false_alarms)

    def lines(self) -> list[str]:
        """A table with a line a rule and one for all."""
        names = set(self.spots) | set(self.found) | set(self.missed) | set(self.false_alarms)
        rows = [self._row(rule, [rule]) for rule in sorted(names)]
        head = (
            f"{'rule':<6}{'spots':>7}{'found':>7}{'missed':>8}{'false':>7}{'prec':>8}{'recall':>8}"
        )
        return [head, *rows, self._row("all", sorted(names))]

    def precision(self) -> float:
        """How much of what was reported is right."""
        return share(self.found.total(), self.false_alarms.total())

    def recall(self) -> float:
        """How much of what is there was reported."""
        return share(self.found.total(), self.missed.total())

    def _row(self, name: str, rules: list[str]) -> str:
        spots, found, missed, false = (
            sum(counter[rule] for rule in rules)
            for counter in (self.spots, self.found, self.missed, self.false_alarms)
        )
        return (
            f"{name:<6}{spots:>7}{found:>7}{missed:>8}{false:>7}"
            f"{share(found, false):>8.1%}{share(found, missed):>8.1%}"
        )


def share(right: int, wrong: int) -> float:
    """The right ones among both; nothing at all counts as right."""
    return right / (right + wrong) if right + wrong else 1.0


def read_case(folder: Path) -> Case:
    """Read a case's labels."""
    toml = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    labels: dict[str, Any] = toml.loads((folder / "expect.toml").read_text(encoding="utf-8"))
    return Case(
        name=folder.name,
        folder=folder,
        origin=labels["origin"],
        about=labels["about"],
        held_out=labels.get("held_out", False),
        findings=tuple(read_spot(entry) for entry in labels.get("finding", [])),
        quiets=tuple(read_spot(entry) for entry in labels.get("quiet", [])),
        tolerated=tuple(read_spot(entry) for entry in labels.get("tolerated", [])),
    )


def read_spot(entry: dict[str, Any]) -> Spot:
    """Read one label."""
    rule = entry.get("rule", entry.get("rules", []))
    return Spot(
        path=entry["path"],
        line=entry["line"],
        end_line=entry.get("end_line", entry["line"]),
        also_lines=tuple(entry.get("also_lines", [])),
        rules=(rule,) if isinstance(rule, str) else tuple(rule),
        why=entry["why"],
    )


def read_cases(folder: Path = CASES) -> list[Case]:
    """All cases, in the order of their numbers."""
    return [read_case(path.parent) for path in sorted(folder.glob("*/expect.toml"))]


def judge(case: Case, hits: list[Hit]) -> Score:
    """Compare what was reported with the labels; notes can be found, but never be false alarms."""
    wanted = {
        hit: [spot for spot in case.findings if is_meant(spot, hit, case.quiets)]
        for hit in dict.fromkeys(hits)
    }
    found = assign(case.findings, wanted)
    return Score(
        case=case,
        found=tuple(spot for spot in case.findings if spot in found),
        missed=tuple(spot for spot in case.findings if spot not in found),
        false_alarms=tuple(
            hit
            for hit, spots in wanted.items()
            if hit.severity in COUNTED
            and not spots
            and not any(spot.has_near(hit, NEAR_FINDING) for spot in case.tolerated)
        ),
    )


def is_meant(spot: Spot, hit: Hit, quiets: tuple[Spot, ...]) -> bool:
    """Whether a hit may stand for a finding: near it, and not nearer to a quiet spot."""
    distance = spot.distance(hit)
    if distance is None or distance > NEAR_FINDING:
        return False
    return not any(
        quiet.has_near(hit, NEAR_QUIET) and (quiet.distance(hit) or 0) < distance
        for quiet in quiets
    )


def assign(findings: tuple[Spot, ...], wanted: dict[Hit, list[Spot]]) -> set[Spot]:
    """The most findings that can each have a hit of their own (augmenting paths)."""
    owner: dict[Hit, Spot] = {}

    def place(spot: Spot, tried: set[Hit]) -> bool:
        for hit, spots in wanted.items():
            if spot in spots and hit not in tried:
                tried.add(hit)
                if hit not in owner or place(owner[hit], tried):
                    owner[hit] = spot
                    return True
        return False

    for spot in findings:
        place(spot, set())
    return set(owner.values())


def audit(case: Case) -> list[Hit]:
    """Run the audit on a copy of the case, without its labels and outside of any `tests/`."""
    command = cast("click.Command", importlib.import_module("setpoint.cli.audit").command)
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / "repository"
        shutil.copytree(case.folder, copy, ignore=shutil.ignore_patterns("expect.toml"))
        options = ["--output", "json", "--fail-on", "never", "--no-cache"]
        result = CliRunner().invoke(command, [str(copy), *options])
    if result.exit_code != 0:
        raise click.ClickException(
            f"{case.name}: the audit failed: {result.exception!r}\n{result.output}"
        )
    return [
        Hit(
            rule=finding["rule"],
            severity=finding["severity"],
            path=finding["path"],
            line=finding["line"],
            message=finding["message"],
        )
        for finding in json.loads(result.stdout)["findings"]
    ]


def details(score: Score) -> list[str]:
    """The misses and false alarms of a case, a line each."""
    name = score.case.name
    return [
        *(
            f"missed  {'/'.join(spot.rules)} {name}/{spot.path}:{spot.line}  {spot.why}"
            for spot in score.missed
        ),
        *(
            f"false   {hit.rule} {name}/{hit.path}:{hit.line}  {hit.message}"
            for hit in score.false_alarms
        ),
    ]


@click.command()
@click.option("--verbose", is_flag=True, help="List misses and false alarms of the open cases.")
@click.option("--show-held-out", is_flag=True, help="List those of the held-out cases as well.")
@click.option("--only", default="", help="Only cases with this in their name.")
def main(*, verbose: bool, show_held_out: bool, only: str) -> None:
    """Measure the audit against the labelled cases."""
    scores = [judge(case, audit(case)) for case in read_cases() if only in case.name]
    if verbose or show_held_out:
        for score in scores:
            if show_held_out if score.case.held_out else verbose:
                click.echo("\n".join(details(score)), nl=bool(details(score)))
    parts = {
        "open cases": [score for score in scores if not score.case.held_out],
        "held-out cases": [score for score in scores if score.case.held_out],
        "all cases": scores,
    }
    total = Tally()
    for title, part in parts.items():
        total = Tally()
        for score in part:
            total.add(score)
        click.echo(f"\n{title}: {len(part)}")
        click.echo("\n".join(total.lines()))
    if min(total.precision(), total.recall()) < BAR:
        click.echo(f"\nbelow the bar of {BAR:.0%}")
        sys.exit(1)


if __name__ == "__main__":
    main()
