"""How a backfill's cost grows with days and rows: measured, plotted, written into the docs.

`make performance`, on a quiet machine. Nothing in the page is written by hand.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from bench.backfill import measure_growth

if TYPE_CHECKING:
    from bench.backfill import Point

DOCS = Path(__file__).parents[1] / "docs"
WIDTH, BAR, GAP, LEFT, RIGHT = 760, 26, 18, 250, 90
COLOURS = {"bare": "#9aa5b1", "backfill": "#2f6f9f"}
WORDS = {"bare": "bare overwrite, one job", "backfill": "setpoint backfill"}
BUSY = 0.5


def main() -> None:
    """Measure, draw, write; refuse on a machine that has other work to do."""
    load = os.getloadavg()[0]
    if load > BUSY:
        raise SystemExit(f"the load is {load:.1f}: figures would not mean anything; try later")
    points = measure_growth()
    (DOCS / "performance.svg").write_text(plot(points), encoding="utf-8")
    (DOCS / "performance.md").write_text(page(points), encoding="utf-8")
    print(f"wrote {DOCS / 'performance.md'}")


def plot(points: list[Point]) -> str:
    """Bars by size of range, one for each way."""
    most = max(point.seconds for point in points)
    height = len(points) * (BAR + GAP) + GAP
    scale = (WIDTH - LEFT - RIGHT) / most
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            'font-family="sans-serif" font-size="13">'
        )
    ]
    for number, point in enumerate(points):
        top = GAP + number * (BAR + GAP)
        middle = top + BAR * 2 // 3
        length = point.seconds * scale
        label = f"{point.days} days, {point.rows / 1e6:g} M rows, {point.name}"
        parts += [
            f'<text x="{LEFT - 10}" y="{middle}" text-anchor="end">{label}</text>',
            (
                f'<rect x="{LEFT}" y="{top}" width="{length:.1f}" height="{BAR}" '
                f'fill="{COLOURS[point.name]}"/>'
            ),
            f'<text x="{LEFT + length + 8:.1f}" y="{middle}">{point.seconds:.2f} s</text>',
        ]
    return "\n".join([*parts, "</svg>", ""])


def page(points: list[Point]) -> str:
    """The page around the plot."""
    bare = {(p.days, p.rows): p.seconds for p in points if p.name == "bare"}
    rows = [
        f"| {p.days} | {p.rows:,} | {WORDS[p.name]} | {p.seconds:.2f} | "
        f"{p.seconds / bare[p.days, p.rows]:.2f} |"
        for p in points
    ]
    return "\n".join(
        [
            "# Performance of backfills",
            "",
            "Written by `make performance` from what it measured: the best of three warm runs on",
            f"{os.cpu_count()} cores, daily windows, 5,000 customers, gates and ledger included.",
            "",
            "![Seconds by days and rows](performance.svg)",
            "",
            "| days | source rows | way | seconds | ratio |",
            "|---|---|---|---|---|",
            *rows,
            "",
        ]
    )


if __name__ == "__main__":
    main()
