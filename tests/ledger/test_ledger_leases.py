"""Leases, as every ledger gives them: who may set a scope, and who may take it over."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from setpoint.errors import LeaseLost, LedgerError
from setpoint.ledger.lease import Holder
from setpoint.ledger.memory import MemoryLedger

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.ledger.conftest import Clock, Scene, Window

    from setpoint.ledger.lease import Grant, Lease
    from setpoint.ledger.protocol import Ledger

ONE = Holder(pid=1, host="here", machine="m", born="100")
OTHER = Holder(pid=2, host="there", machine="n", born="200")


def take(
    ledger: Ledger,
    window: Window,
    holder: Holder = ONE,
    *,
    task: str = "orders",
    target: str | None = None,
    **more: Any,
) -> Grant:
    """Ask for a lease."""
    target = target or f"lake.shop.{task}"
    return ledger.take(task, *window, target=target, holder=holder, seconds=60.0, **more)


def held(grant: Grant) -> Lease:
    """The lease that was given."""
    assert grant.lease is not None, grant.blocked_by
    return grant.lease


def test_a_lease_says_who_holds_what(ledger: Ledger, scene: Scene) -> None:
    """Task, window, target and process are read back as they were given."""
    lease = held(take(ledger, scene.day(25)))
    assert (lease.task, lease.window_start, lease.window_end) == ("orders", *scene.day(25))
    assert (lease.target, lease.holder, lease.beat, lease.seconds) == (
        "lake.shop.orders",
        ONE,
        0,
        60.0,
    )
    assert ledger.leases() == [lease]
    assert ledger.leases("orders") == [lease]
    assert ledger.leases("customers") == []


def test_a_held_window_is_not_given_twice(ledger: Ledger, scene: Scene) -> None:
    """The second to ask learns who stands in the way; once given back it is free."""
    first = held(take(ledger, scene.day(25)))
    second = take(ledger, scene.day(25), OTHER)
    assert (second.lease, second.blocked_by) == (None, (first,))
    ledger.release(first)
    assert held(take(ledger, scene.day(25), OTHER)).fence > first.fence


def test_a_batch_and_a_window_in_it_exclude_each_other(ledger: Ledger, scene: Scene) -> None:
    """Whichever comes first: overlap is what counts; neighbours go on side by side."""
    batch = (scene.day(10)[0], scene.day(15)[1])
    first = held(take(ledger, batch))
    assert take(ledger, scene.day(12), OTHER).blocked_by == (first,)
    assert take(ledger, (scene.day(15)[0], scene.day(20)[1]), OTHER).blocked_by == (first,)
    held(take(ledger, scene.day(9), OTHER))
    single = held(take(ledger, scene.day(16), OTHER))
    assert take(ledger, (scene.day(16)[0], scene.day(18)[1])).blocked_by == (single,)


def test_a_whole_table_excludes_every_window_of_it(ledger: Ledger, scene: Scene) -> None:
    """By the task's name and by the table's: a renamed task still writes the same table."""
    whole = held(take(ledger, (None, None)))
    assert take(ledger, scene.day(1), OTHER).blocked_by == (whole,)
    renamed = take(ledger, scene.day(1), OTHER, task="renamed", target="lake.shop.orders")
    assert renamed.blocked_by == (whole,)
    window = held(take(ledger, scene.day(1), OTHER, task="customers"))
    assert take(ledger, (None, None), task="customers").blocked_by == (window,)


def test_a_lease_is_taken_over_only_as_it_was_seen(ledger: Ledger, scene: Scene) -> None:
    """A beat in between means that the holder lives, and nothing is taken."""
    first = held(take(ledger, scene.day(1)))
    renewed = ledger.renew(first)
    assert renewed.beat == first.beat + 1
    assert take(ledger, scene.day(1), OTHER, over=[first]).blocked_by == (renewed,)
    second = held(take(ledger, scene.day(1), OTHER, over=[renewed]))
    assert second.fence > first.fence
    assert ledger.leases() == [second]


def test_a_batch_takes_over_every_window_in_it_or_none(ledger: Ledger, scene: Scene) -> None:
    """One live window keeps the batch out, and the dead ones stay as they are."""
    dead, live = (held(take(ledger, scene.day(number))) for number in (1, 2))
    batch = (scene.day(1)[0], scene.day(2)[1])
    assert take(ledger, batch, OTHER, over=[dead]).blocked_by == (live,)
    assert ledger.leases() == [dead, live]
    taken = held(take(ledger, batch, OTHER, over=[dead, live]))
    assert ledger.leases() == [taken]


def test_who_lost_a_lease_is_told_by_whom(ledger: Ledger, scene: Scene) -> None:
    """At the next beat, with the other's process and host."""
    first = held(take(ledger, scene.day(1)))
    held(take(ledger, scene.day(1), OTHER, over=[first]))
    with pytest.raises(LeaseLost, match="process 2 on there took orders over") as told:
        ledger.renew(first)
    assert told.value.next_step == "setpoint history orders"


def test_who_lost_a_lease_is_told_by_whom_also_after_it_was_given_back(
    ledger: Ledger, scene: Scene
) -> None:
    """The run that the other recorded names it, though its lease is gone."""
    first = held(take(ledger, scene.day(1)))
    second = held(take(ledger, scene.day(1), OTHER, over=[first]))
    start, end = scene.day(1)
    started = ledger.begin(
        "orders", start, end, target="lake.shop.orders", fingerprint="c", pid=2, host="there"
    )
    ledger.succeed(started.run_id, started.fence, rows=1)
    ledger.release(second)
    with pytest.raises(LeaseLost, match="process 2 on there"):
        ledger.renew(first)


@pytest.mark.parametrize("what", ["begin", "retry", "succeed", "record_many"])
def test_nothing_is_recorded_under_a_lost_lease(ledger: Ledger, scene: Scene, what: str) -> None:
    """Not even where the taker's scope is another one, and no newer fence is on the run's own."""
    lease = held(take(ledger, scene.day(1)))
    start, end = scene.day(1)

    def begin(lease: Lease | None) -> tuple[str, int]:
        started = ledger.begin(
            "orders", start, end, target="t", fingerprint="c", pid=1, host="here", lease=lease
        )
        return started.run_id, started.fence

    run_id, fence = begin(lease)
    held(take(ledger, (scene.day(1)[0], scene.day(3)[1]), OTHER, over=[lease]))
    before = ledger.runs()
    calls: dict[str, Callable[[], object]] = {
        "begin": lambda: begin(lease),
        "retry": lambda: ledger.retry(run_id, fence, error="e", error_kind="k", lease=lease),
        "succeed": lambda: ledger.succeed(run_id, fence, rows=1, lease=lease),
        "record_many": lambda: ledger.record_many(
            [scene.outcome(1)], pid=1, host="here", lease=lease
        ),
    }
    with pytest.raises(LeaseLost):
        calls[what]()
    assert ledger.runs() == before


def test_giving_back_what_was_taken_over_changes_nothing(ledger: Ledger, scene: Scene) -> None:
    """The paused process that wakes does not free the other's lease."""
    first = held(take(ledger, scene.day(1)))
    second = held(take(ledger, scene.day(1), OTHER, over=[first]))
    ledger.release(first)
    ledger.release(first)
    assert ledger.leases() == [second]


def test_scenario_16_a_clock_that_is_wrong_by_hours_decides_nothing(
    ledger: Ledger, scene: Scene, clock: Clock
) -> None:
    """Fences grow and leases stay, wherever the clock is set."""
    first = held(take(ledger, scene.day(1)))
    clock.at -= timedelta(hours=9)
    assert take(ledger, scene.day(1), OTHER).blocked_by == (first,)
    clock.at += timedelta(days=400)
    assert take(ledger, scene.day(1), OTHER).blocked_by == (first,)
    clock.at -= timedelta(days=800)
    second = held(take(ledger, scene.day(2), OTHER))
    assert second.taken_at < first.taken_at
    assert second.fence > first.fence


def test_a_ledger_that_was_deleted_goes_on_above_the_fences_of_the_table(
    ledger: Ledger, scene: Scene
) -> None:
    """A fence that the target has seen is a floor for every later one."""
    lease = held(take(ledger, scene.day(1), at_least=1000))
    assert lease.fence == 1001
    assert scene.begin().fence == 1002
    assert held(take(ledger, scene.day(2), at_least=5)).fence == 1003


def test_a_fence_of_another_ledger_is_not_taken_for_ones_own(ledger: Ledger, scene: Scene) -> None:
    """A ledger that was made anew gives the same number to somebody else."""
    lease = held(take(ledger, scene.day(1), OTHER))
    mine = held(take(MemoryLedger(), scene.day(1)))
    assert mine.fence == lease.fence
    with pytest.raises(LeaseLost):
        ledger.renew(mine)
    ledger.release(mine)
    assert ledger.leases() == [lease]


def test_a_lease_needs_a_ledger_that_can_be_written(scene: Scene) -> None:
    """Opened for reading only, it gives none."""
    with pytest.raises(LedgerError, match="reading only"):
        take(MemoryLedger(readonly=True), scene.day(1))
