from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st
from tests.backfilling.conftest import plan_of
from tests.task_maker import Maker

from setpoint.backfilling.plan import one_by_one
from setpoint.backfilling.schedule import Schedule
from setpoint.model.pattern import Choice
from setpoint.model.write import replace as whole_table

if TYPE_CHECKING:
    from setpoint.backfilling.plan import BackfillPlan
    from setpoint.backfilling.schedule import Item


def words(item: Item | None) -> str:
    """A job as `task first-window`."""
    if item is None:
        return "-"
    first = item.windows[0]
    return f"{item.plan.task.name} {first.label if first else 'all'}"


def in_turn(plan: BackfillPlan) -> list[str]:
    """The order of jobs when each ends before the next begins."""
    schedule, order = Schedule(plan), []
    while not schedule.over:
        item = schedule.take()
        assert item is not None
        order.append(words(item))
        schedule.ended(item)
    return order


def two(make: Maker, **asked: object) -> BackfillPlan:
    """Three days of a task and of one that reads it."""
    tasks = [make.task("raw"), make.task("daily", reads=("raw",))]
    given = {"with_upstream": True, "batch_size": 1, "end": "2026-04-04", **asked}
    return plan_of(tasks, **given)  # type: ignore[arg-type]


def test_a_window_runs_as_soon_as_what_it_reads_is_there(make: Maker) -> None:
    """H1: window by window, not level by level."""
    assert in_turn(two(make)) == [
        "raw 2026-04-01",
        "daily 2026-04-01",
        "raw 2026-04-02",
        "daily 2026-04-02",
        "raw 2026-04-03",
        "daily 2026-04-03",
    ]


def test_backwards_begins_with_the_newest_window(make: Maker) -> None:
    """Upstream still comes first."""
    assert in_turn(two(make, backwards=True))[:3] == [
        "raw 2026-04-03",
        "daily 2026-04-03",
        "raw 2026-04-02",
    ]


def test_a_sliding_pool_goes_on_while_one_job_is_slow(make: Maker) -> None:
    """Never waves: the slow first window holds up only what reads it."""
    schedule = Schedule(two(make))
    slow = schedule.take()
    other = schedule.take()
    assert (words(slow), words(other)) == ("raw 2026-04-01", "raw 2026-04-02")
    assert other is not None
    schedule.ended(other)
    assert words(schedule.take()) == "daily 2026-04-02"
    assert words(schedule.take()) == "raw 2026-04-03"
    assert words(schedule.take()) == "-"


def test_a_day_waits_for_its_hours_and_for_no_others(make: Maker) -> None:
    """Different grains are mapped by time."""
    tasks = [make.task("hourly", grain="hour"), make.task("daily", reads=("hourly",))]
    plan = plan_of(tasks, with_upstream=True, batch_size=1, end="2026-04-03")
    order = in_turn(plan)
    assert order.index("daily 2026-04-01") == 24
    assert order[-1] == "daily 2026-04-02"


def test_batches_of_different_tasks_need_not_have_the_same_edges(make: Maker) -> None:
    """A batch waits for every upstream batch that overlaps it."""
    plan = two(make, end="2026-04-11")
    raw, daily = plan.tasks
    from setpoint.backfilling.batching import batches

    plan = replace(
        plan,
        tasks=(
            replace(raw, batches=tuple(batches(raw.windows, 4))),
            replace(daily, batches=tuple(batches(daily.windows, 5))),
        ),
    )
    assert in_turn(plan) == [
        "raw 2026-04-01",
        "raw 2026-04-04",
        "daily 2026-04-01",
        "raw 2026-04-07",
        "daily 2026-04-06",
    ]


def test_what_reads_a_failed_window_is_blocked_and_all_else_goes_on(make: Maker) -> None:
    """A4: only the windows that overlap a failed one are held back, with its task's name."""
    schedule = Schedule(two(make, batch_size=3))
    raw = schedule.take()
    assert raw is not None
    schedule.ended(raw, [raw.windows[1]])
    daily = schedule.take()
    assert daily is not None
    assert schedule.blocked(daily) == {daily.windows[1]: "raw"}


def test_a_reader_of_a_whole_table_waits_for_all_of_it(make: Maker) -> None:
    """A static source, or a task without windows, may have changed anywhere."""
    raw = make.task("raw")
    daily = make.task("daily", reads=("raw",))
    static = replace(daily, sources=tuple(replace(s, event_time=None) for s in daily.sources))
    plan = plan_of([raw, static], with_upstream=True, batch_size=1, end="2026-04-03")
    assert in_turn(plan)[:2] == ["raw 2026-04-01", "raw 2026-04-02"]
    schedule = Schedule(plan)
    for _ in range(2):
        item = schedule.take()
        assert item is not None
        schedule.ended(item, item.windows[:1])
    waiting = schedule.take()
    assert waiting is not None
    assert len(schedule.blocked(waiting)) == 1


def test_runs_that_set_a_whole_table_take_turns(make: Maker) -> None:
    """Two at once would only conflict."""
    task = make.task(choice=Choice(write=whole_table(), reason="stated"))
    schedule = Schedule(plan_of([task], end="2026-04-04"))
    first = schedule.take()
    assert first is not None
    assert schedule.take() is None
    schedule.ended(first)
    assert words(schedule.take()) == "orders 2026-04-02"


def test_a_changed_plan_goes_on_where_the_old_one_was(make: Maker) -> None:
    """A task found not separable is cut into windows; what has ended stays so."""
    plan = two(make, batch_size=3)
    schedule = Schedule(plan)
    raw = schedule.take()
    assert raw is not None
    schedule.ended(raw)
    again = schedule.replanned(one_by_one(plan, "daily"))
    rest = []
    while not again.over:
        item = again.take()
        assert item is not None
        rest.append(words(item))
        again.ended(item)
    assert rest == ["daily 2026-04-01", "daily 2026-04-02", "daily 2026-04-03"]


@given(
    days=st.integers(1, 9),
    sizes=st.tuples(st.integers(1, 9), st.integers(1, 9)),
    backwards=st.booleans(),
    picks=st.lists(st.integers(0, 5), max_size=60),
)
def test_every_job_runs_once_and_never_before_what_it_reads(
    days: int, sizes: tuple[int, int], backwards: bool, picks: list[int]
) -> None:
    """Whatever the batches, the direction and the order in which jobs end."""
    from setpoint.backfilling.batching import batches

    plan = two(Maker(), end=f"2026-04-{days + 1:02}", backwards=backwards)
    plan = replace(
        plan,
        tasks=tuple(
            replace(each, batches=tuple(batches(each.windows, size)))
            for each, size in zip(plan.tasks, sizes, strict=True)
        ),
    )
    schedule = Schedule(plan)
    running: list[Item] = []
    done: list[Item] = []
    ready_windows: set[object] = set()
    draw = iter(picks)
    while not schedule.over:
        while (item := schedule.take()) is not None:
            if item.plan.task.name == "daily":
                assert set(item.windows) <= ready_windows
            running.append(item)
        ended = running.pop(next(draw, 0) % len(running))
        if ended.plan.task.name == "raw":
            ready_windows |= set(ended.windows)
        done.append(ended)
        schedule.ended(ended)
    assert not running
    assert len(done) == plan.jobs
    assert sum(len(item.windows) for item in done) == 2 * days
