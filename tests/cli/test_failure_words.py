"""How a failure and a result read to the person at the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.task_maker import Maker

from setpoint.cli.failure import failure_lines
from setpoint.cli.progress import PlainLines, result_words
from setpoint.errors import GateFailed, SetpointError, SourceFault
from setpoint.model.plan import Step
from setpoint.model.window import Window
from setpoint.running.result import RunResult

if TYPE_CHECKING:
    from collections.abc import Callable

DAY = Window.parse_key("2026-04-25T00:00:00Z/2026-04-26T00:00:00Z")
STEP = Step(task=Maker.task(), window=DAY)


def test_a_gates_failure_shows_what_where_and_sample_keys() -> None:
    """Task, window, table, gate, expected, found, samples and the next step, aligned."""
    error = GateFailed(
        "two rows share a key",
        gate="unique",
        expected="one row for each id",
        found="2 rows",
        samples=["id=7", "id=9"],
        next_step="deduplicate the result",
    ).on(task="orders", window="2026-04-25", table="lake.shop.orders")
    assert failure_lines(error) == [
        "two rows share a key",
        "  task      orders",
        "  window    2026-04-25",
        "  table     lake.shop.orders",
        "  gate      unique",
        "  expected  one row for each id",
        "  found     2 rows",
        "  sample keys:",
        "    id=7",
        "    id=9",
        "next: deduplicate the result",
    ]


def test_what_an_error_says_of_its_place_is_kept() -> None:
    """The place that the error itself named goes before the one where it was caught."""
    error = SourceFault("gone", table="lake.raw.orders")
    error.on(task="orders", window="2026-04-25", table="lake.shop.orders")
    assert (error.task, error.table) == ("orders", "lake.raw.orders")


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (
            RunResult(step=STEP, state="succeeded", attempts=1, rows=250_000, seconds=1.25),
            "250,000 rows  1.2 s",
        ),
        (
            RunResult(
                step=STEP,
                state="succeeded",
                attempts=2,
                rows=5,
                replaced=4,
                adopted=True,
                seconds=65,
                checksum="ck1:5:aa",
            ),
            (
                "5 rows  replaced 4  attempt 2  "
                "committed by an earlier attempt, nothing written again"
                "  1 min 05 s  ck1:5:aa"
            ),
        ),
        (RunResult(step=STEP, state="failed", attempts=3, seconds=2), "after 3 attempts  2.0 s"),
        (
            RunResult(step=STEP, state="skipped", error=SetpointError("not run: a failed")),
            "not run: a failed",
        ),
    ],
)
def test_a_result_is_one_line(result: RunResult, words: str) -> None:
    """Rows, what was replaced, attempts, adoption, time and checksum, as far as there are such."""
    assert result_words(result) == words


def test_plain_lines_tell_each_step_in_a_log(capsys: pytest.CaptureFixture[str]) -> None:
    """Begun, tried again with the wait, ended, with its warnings."""
    lines = PlainLines()
    tell: list[Callable[[], None]] = [
        lambda: lines.said("starting Spark"),
        lambda: lines.started(STEP),
        lambda: lines.retrying(STEP, SetpointError("away"), 2),
        lambda: lines.finished(
            RunResult(step=STEP, state="succeeded", rows=1, seconds=1, warnings=("order",))
        ),
    ]
    for say in tell:
        say()
    assert capsys.readouterr().out.splitlines() == [
        "starting Spark",
        "orders  2026-04-25  running",
        "orders  2026-04-25  retrying in 2.0 s: away",
        "orders  2026-04-25  succeeded  1 rows  1.0 s",
        "  warning: order",
    ]
