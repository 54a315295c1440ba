"""Everything that is measured: `make bench`, or `python -m bench.run --only writes`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from bench.measuring import Measure, report

if TYPE_CHECKING:
    from collections.abc import Callable


def _writes(runs: int) -> list[Measure]:
    from bench.writes import measure_writes

    return measure_writes(runs)


def _commands(runs: int) -> list[Measure]:
    from bench.commands import measure_commands

    return measure_commands(runs)


def _cold(runs: int) -> list[Measure]:
    from bench.commands import measure_cold

    return measure_cold(max(3, runs // 3))


def _postgres(runs: int) -> list[Measure]:
    from bench.postgres import measure_postgres

    return measure_postgres(runs)


def _merge(runs: int) -> list[Measure]:
    from bench.merge import measure_merge

    return measure_merge(runs)


def _leases(runs: int) -> list[Measure]:
    from bench.leases import measure_leases

    return measure_leases(runs)


PARTS: dict[str, Callable[[int], list[Measure]]] = {
    "commands": _commands,
    "cold": _cold,
    "writes": _writes,
    "postgres": _postgres,
    "merge": _merge,
    "leases": _leases,
}


def main() -> None:
    """Measure, print a table and keep JSON lines."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=sorted(PARTS), action="append")
    parser.add_argument("--runs", type=int, default=9)
    given = parser.parse_args()
    results: list[Measure] = []
    for name, part in PARTS.items():
        if not given.only or name in given.only:
            print(f"measuring {name} …", flush=True)
            results += part(given.runs)
    report(results)


if __name__ == "__main__":
    main()
