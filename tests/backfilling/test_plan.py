from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.backfilling.conftest import plan_of, standing

from setpoint.backfilling.plan import one_by_one
from setpoint.backfilling.selecting import DONE, DONE_HERE, Choice
from setpoint.errors import UsageError
from setpoint.model.write import merge, replace

if TYPE_CHECKING:
    from tests.task_maker import Maker

    from setpoint.backfilling.plan import BackfillPlan


def labels(plan: BackfillPlan, number: int = 0) -> list[str]:
    """The windows of one task."""
    return [window.label for window in plan.tasks[number].windows if window]


def test_contiguous_windows_of_a_separable_task_are_one_job(make: Maker) -> None:
    """Ten days, one job; with --batch-size 4 three jobs of nearly equal size."""
    whole = plan_of([make.task()])
    assert [batch.count for batch in whole.tasks[0].batches] == [10]
    cut = plan_of([make.task()], batch_size=4)
    assert [batch.count for batch in cut.tasks[0].batches] == [3, 3, 4]
    assert (cut.windows, cut.jobs) == (10, 3)


def test_a_gap_of_windows_that_are_done_parts_two_jobs(make: Maker) -> None:
    """What the ledger shows done is skipped with a reason, and never inside a job's range."""
    plan = plan_of([make.task()], known=[standing(4), standing(5)])
    (task,) = plan.tasks
    assert [batch.count for batch in task.batches] == [3, 5]
    (skip,) = task.skips
    assert (skip.reason, skip.windows, skip.first, skip.last) == (
        DONE,
        2,
        "2026-04-04",
        "2026-04-05",
    )
    assert [str(task.span(batch)) for batch in task.batches] == [
        "2026-04-01/2026-04-04",
        "2026-04-06/2026-04-11",
    ]


@pytest.mark.parametrize(
    ("choice", "runs"),
    [
        (Choice(reprocess="none"), {3}),
        (Choice(reprocess="failed"), {2, 3}),
        (Choice(reprocess="completed"), {1, 2, 3}),
        (Choice(only=("missing",)), {3}),
        (Choice(only=("failed",)), {2}),
        (Choice(only=("stale",), stale=lambda w, _s: "yes" if w.start.day == 1 else None), {1}),
        (Choice(only=("missing", "failed")), {2, 3}),
        (Choice(reprocess="completed", since=0), {2, 3}),
        (Choice(reprocess="none", since=0), {2, 3}),
    ],
)
def test_which_windows_run_by_where_they_stand(make: Maker, choice: Choice, runs: set[int]) -> None:
    """H5: the 1st succeeded, the 2nd failed, the 3rd never ran."""
    known = [standing(1), standing(2, "failed")]
    plan = plan_of([make.task()], known=known, choice=choice, end="2026-04-04")
    assert {w.start.day for w in plan.tasks[0].windows if w} == runs
    assert plan.skipped == 3 - len(runs)


def test_what_was_done_since_the_backfill_began_is_not_done_again(make: Maker) -> None:
    """Resume: even with --reprocess-behavior completed, by fences and not by clocks."""
    known = [standing(1, fence=5), standing(2, fence=11)]
    plan = plan_of([make.task()], known=known, choice=Choice(reprocess="completed", since=10))
    assert "2026-04-02" not in labels(plan)
    assert "2026-04-01" in labels(plan)
    assert plan.tasks[0].skips[0].reason == DONE_HERE


def test_upstream_is_widened_to_whole_windows_of_another_zone(make: Maker) -> None:
    """A day in Paris reaches into two days of UTC, and both are set first."""
    utc = make.task("raw")
    paris = make.task("daily", reads=("raw",), zone="Europe/Paris")
    plan = plan_of([utc, paris], with_upstream=True, end="2026-04-02")
    assert [each.task.name for each in plan.tasks] == ["raw", "daily"]
    assert labels(plan, 0) == ["2026-03-31", "2026-04-01"]
    assert labels(plan, 1) == ["2026-04-01"]


def test_downstream_of_hours_is_the_day_that_they_lie_in(make: Maker) -> None:
    """Grains are mapped: two hours are set again, and the whole day that reads them."""
    tasks = [make.task("hourly", grain="hour"), make.task("daily", reads=("hourly",))]
    plan = plan_of(
        tasks,
        tasks=("hourly",),
        with_downstream=True,
        start="2026-04-01T05:00",
        end="2026-04-01T07:00",
    )
    assert len(plan.tasks[0].windows) == 2
    assert labels(plan, 1) == ["2026-04-01"]


def test_only_the_named_tasks_run_and_other_readers_are_told_of(make: Maker) -> None:
    """Without --with-downstream a reader is not set again, and the plan says who it is."""
    tasks = [make.task("raw"), make.task("daily", reads=("raw",))]
    plan = plan_of(tasks, tasks=("raw",))
    assert [each.task.name for each in plan.tasks] == ["raw"]
    assert plan.tasks[0].readers == ("daily",)


def test_tasks_that_cannot_be_coalesced_say_why(make: Maker) -> None:
    """A merge, a whole table, a database, late rows: one job a window, with the reason."""
    from setpoint.model.pattern import Choice as Pattern

    merged = make.task(choice=Pattern(write=merge("id"), reason="stated"))
    whole = make.task(choice=Pattern(write=replace(), reason="stated"))
    for task, words in (
        (merged, "merge"),
        (whole, "whole table"),
        (make.task(catalog_type="postgres"), "Postgres"),
        (make.task(late="exclude"), "late rows"),
        (make.task(effects=(object(),)), "effects"),
    ):
        (plan,) = plan_of([task]).tasks
        assert [batch.count for batch in plan.batches] == [1] * 10
        assert words in plan.coalescing.why
    unknown = plan_of([make.task()], separable=None).tasks[0]
    assert unknown.coalescing.probe
    refuted = plan_of([make.task()], separable=False).tasks[0]
    assert len(refuted.batches) == 10


def test_a_task_found_not_separable_gets_a_job_for_each_window(make: Maker) -> None:
    """The plan changes for that task alone."""
    tasks = [make.task("raw"), make.task("daily", reads=("raw",))]
    plan = one_by_one(plan_of(tasks, with_upstream=True), "raw")
    assert [len(each.batches) for each in plan.tasks] == [10, 1]


def test_a_task_without_windows_is_set_once(make: Maker) -> None:
    """It has no range, and stands in the plan as one job."""
    tasks = [make.task("lookup", grain=None), make.task("daily", reads=("lookup",))]
    plan = plan_of(tasks, with_upstream=True)
    assert plan.tasks[0].windows == (None,)
    assert plan.windows == 11


def test_an_unknown_task_or_a_range_that_ends_early_is_refused(make: Maker) -> None:
    """Wrong use is told before anything is read."""
    with pytest.raises(UsageError, match="no task is called"):
        plan_of([make.task()], tasks=("nobody",))
    with pytest.raises(UsageError, match="not after --start"):
        plan_of([make.task()], end="2026-04-01")


def test_the_plan_as_a_document_lists_batches_skips_and_readers(make: Maker) -> None:
    """What --dry-run --output json prints."""
    document = plan_of([make.task()], known=[standing(4)]).document()
    assert document["windows"] == 9
    listed: Any = document["tasks"]
    assert [batch["windows"] for batch in listed[0]["batches"]] == [3, 6]
    assert listed[0]["skipped"][0]["windows"] == 1


def test_ten_years_of_quarter_hours_are_planned_from_one_query(make: Maker) -> None:
    """350,688 windows, a month of them to a job; how long that takes is for `make bench`."""
    plan = plan_of([make.task(grain="15min")], start="2016-01-01", end="2026-01-01")
    assert plan.windows == 350_688
    assert plan.jobs == 122
