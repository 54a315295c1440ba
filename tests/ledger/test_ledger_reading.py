"""What `status` and `history` learn from every ledger."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from setpoint.errors import UsageError

if TYPE_CHECKING:
    from tests.ledger.conftest import Scene

    from setpoint.ledger.protocol import Ledger


def test_an_empty_ledger_answers_with_nothing(ledger: Ledger, scene: Scene) -> None:
    """Nothing has run yet: every list is empty, and nothing raises."""
    assert not any([ledger.latest(), ledger.runs(), ledger.summary(), ledger.attempts("none")])
    assert ledger.scope("orders", *scene.day(1)) is None
    assert ledger.scope("orders", None, None) is None


def test_latest_has_one_run_a_window_newest_window_first(ledger: Ledger, scene: Scene) -> None:
    """Whole tables come first, then windows from new to old, tasks by name within one."""
    for number in (2, 1, 3, 2):
        scene.done(scene.day(number))
    scene.done(scene.day(2), task="a_first")
    whole = scene.begin((None, None), task="customers")
    found = ledger.latest()
    assert [(run.task, run.window_start) for run in found] == [
        ("customers", None),
        ("orders", scene.day(3)[0]),
        ("a_first", scene.day(2)[0]),
        ("orders", scene.day(2)[0]),
        ("orders", scene.day(1)[0]),
    ]
    assert ledger.latest(limit=2) == found[:2]
    assert ledger.latest(limit=None) == found
    assert whole.run.window_end is None


def test_a_longer_window_of_one_start_comes_first(ledger: Ledger, scene: Scene) -> None:
    """Windows that start together are ordered by their end, fractions of a second included."""
    start, end = scene.day(1)
    scene.done((start, end))
    scene.done((start, end.replace(microsecond=1)))
    scene.done((start.replace(microsecond=5), end))
    assert [(run.window_start, run.window_end) for run in ledger.latest()] == [
        (start.replace(microsecond=5), end),
        (start, end.replace(microsecond=1)),
        (start, end),
    ]


def test_lists_can_be_narrowed(ledger: Ledger, scene: Scene) -> None:
    """By task, by state, and to the windows that overlap a range; whole tables have none."""
    scene.done(scene.day(1))
    scene.broken(scene.day(2))
    scene.begin(scene.day(3))
    scene.done(scene.day(2), task="other")
    scene.done((None, None), task="customers")
    for read in (ledger.latest, ledger.runs):
        assert {run.window_start for run in read("orders")} == {scene.day(n)[0] for n in (1, 2, 3)}
        assert [run.window_start for run in read(state="failed")] == [scene.day(2)[0]]
        assert [run.task for run in read("other", state="failed")] == []
        assert [
            run.window_start for run in read("orders", start=scene.day(2)[0], end=scene.day(2)[1])
        ] == [scene.day(2)[0]]
        assert [run.window_start for run in read("orders", start=scene.day(3)[0])] == [
            scene.day(3)[0]
        ]
        assert [run.window_start for run in read("orders", end=scene.day(1)[1])] == [
            scene.day(1)[0]
        ]
        assert read("customers", start=scene.day(1)[0]) == []
        assert len(read(limit=1)) == 1
    assert ledger.latest(state="succeeded", limit=None) == [
        run for run in ledger.latest() if run.state == "succeeded"
    ]


def test_history_is_in_the_order_of_the_fences(ledger: Ledger, scene: Scene) -> None:
    """A run that was retried last is shown first."""
    one, two = scene.begin(scene.day(1)), scene.begin(scene.day(2))
    assert [run.run_id for run in ledger.runs()] == [two.run_id, one.run_id]
    ledger.retry(one.run_id, one.fence, error="e", error_kind="k")
    assert [run.run_id for run in ledger.runs()] == [one.run_id, two.run_id]


def test_a_run_is_found_by_the_beginning_of_its_id(ledger: Ledger, scene: Scene) -> None:
    """A unique beginning is enough, a whole id is always enough, and `%` is no wild card."""
    for number, run_id in enumerate(("abc1", "abc2", "abd", "ab", "x%y"), start=1):
        scene.done(scene.day(number), run_id=run_id)
    assert ledger.run("abd").run_id == "abd"
    assert ledger.run("ab").run_id == "ab"
    assert ledger.run("x%").run_id == "x%y"
    with pytest.raises(UsageError, match="abc1, abc2") as several:
        ledger.run("abc")
    assert several.value.next_step == "Type more of the id."
    with pytest.raises(UsageError, match="ab, abc1, abc2, …"):
        ledger.run("a")
    for nothing in ("", "a%", "zzz", "abc11"):
        with pytest.raises(UsageError, match="No run has an id"):
            ledger.run(nothing)


def test_a_summary_tells_where_each_task_stands(ledger: Ledger, scene: Scene) -> None:
    """Windows by state, rows that are there now, the last window, success and error."""
    scene.done(scene.day(1), rows=5)
    scene.done(scene.day(1), rows=7)
    last = scene.done(scene.day(2), rows=10)
    scene.broken(scene.day(3), error="first")
    scene.broken(scene.day(4), error="second")
    scene.begin(scene.day(5))
    scene.done((None, None), task="customers", rows=3)
    customers, orders = ledger.summary()
    assert (orders.task, orders.windows) == ("orders", 5)
    assert (orders.succeeded, orders.failed, orders.running, orders.rows) == (2, 2, 1, 17)
    assert (orders.last_window_start, orders.last_window_end) == scene.day(5)
    assert orders.last_success == last.finished_at
    assert (orders.last_error, orders.last_error_kind) == ("second", "GateFailed")
    assert (customers.task, customers.rows, customers.last_window_start) == ("customers", 3, None)
    assert customers.last_error is None


def test_an_error_that_was_repaired_is_no_longer_the_last(ledger: Ledger, scene: Scene) -> None:
    """A window that failed and then succeeded leaves no error in the summary."""
    scene.broken()
    (failing,) = ledger.summary()
    assert (failing.last_error, failing.last_success) == ("boom", None)
    scene.done()
    (repaired,) = ledger.summary()
    assert (repaired.failed, repaired.last_error, repaired.last_error_kind) == (0, None, None)


def test_hostile_names_are_only_names(ledger: Ledger, scene: Scene) -> None:
    """Quotes, semicolons and unicode in a task's name are kept as they are."""
    name = "o'rders\"; DROP TABLE run; -- \u00e9\u0065\u0301 %_"
    run = scene.done(task=name)
    ledger.record_many([replace(scene.outcome(2), task=name)], pid=1, host="h")
    assert ledger.scope(name, *scene.day(1)) == run
    assert {each.task for each in ledger.latest(name)} == {name}
    assert ledger.summary()[0].windows == 2
