"""How things are measured: interleaved, medians, ratios within one run."""

from __future__ import annotations

import json
import statistics
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

OUT = Path(__file__).parent / "out" / "results.jsonl"


@dataclass(frozen=True, kw_only=True)
class Measure:
    """The median of some runs, and how it stands to another one of the same session."""

    name: str
    seconds: float
    least: float
    most: float
    runs: int
    against: str | None = None
    ratio: float | None = None
    limit: str | None = None
    """What the project promises, for the reader to compare."""


def interleaved(
    contenders: Mapping[str, Callable[[], object]], *, runs: int, warm: int = 2
) -> dict[str, list[float]]:
    """Time the contenders in turn, so that a noisy moment hits them alike."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for number in range(warm + runs):
        for name, action in contenders.items():
            begun = time.perf_counter()
            action()
            if number >= warm:
                times[name].append(time.perf_counter() - begun)
    return times


def measures(
    times: Mapping[str, list[float]],
    *,
    base: str,
    limits: Mapping[str, str] | None = None,
) -> list[Measure]:
    """Medians, with ratios to the base: the median of the ratios of each round."""
    found = []
    for name, seconds in times.items():
        rounds = [one / other for one, other in zip(seconds, times[base], strict=True)]
        found.append(
            Measure(
                name=name,
                seconds=round(statistics.median(seconds), 4),
                least=round(min(seconds), 4),
                most=round(max(seconds), 4),
                runs=len(seconds),
                against=None if name == base else base,
                ratio=None if name == base else round(statistics.median(rounds), 3),
                limit=(limits or {}).get(name),
            )
        )
    return found


def report(results: list[Measure]) -> None:
    """Print a table, and keep JSON lines."""
    OUT.parent.mkdir(exist_ok=True)
    with OUT.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(asdict(result)) + "\n" for result in results)
    width = max(len(result.name) for result in results)
    print(f"\n{'what':<{width}}  {'median s':>9}  {'min..max':>17}  runs  {'ratio':>6}  promise")
    for r in results:
        ratio = "" if r.ratio is None else f"{r.ratio:.2f}"
        span = f"{r.least:.3f}..{r.most:.3f}"
        promise = r.limit or ""
        line = (
            f"{r.name:<{width}}  {r.seconds:>9.3f}  {span:>17}  {r.runs:>4}  {ratio:>6}  {promise}"
        )
        print(line.rstrip())
    print(f"\nJSON lines: {OUT.relative_to(Path.cwd()) if OUT.is_relative_to(Path.cwd()) else OUT}")
