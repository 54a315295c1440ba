"""Holding a scope while a step runs: waiting, refusing, taking over, losing."""

from __future__ import annotations

import threading
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import pytest

from setpoint.errors import EngineFailed, LeaseHeld, LeaseLost, LedgerError, Transient
from setpoint.ledger.holder import this_process
from setpoint.ledger.lease import Holder
from setpoint.ledger.memory import MemoryLedger
from setpoint.model.retry import Backoff, Retry
from setpoint.running import lease_keeper
from setpoint.running.lease_keeper import LeaseKeeper

if TYPE_CHECKING:
    from tests.running.conftest import Stage
    from tests.task_maker import Maker

    from setpoint.ledger.lease import Lease

ELSEWHERE = Holder(pid=4711, host="elsewhere", machine="m", born="1")
START = datetime(2026, 4, 25, tzinfo=timezone.utc)
END = datetime(2026, 4, 26, tzinfo=timezone.utc)


def taken(stage: Stage, holder: Holder = ELSEWHERE, **more: Any) -> Lease:
    """A lease of somebody else on the day that the stage runs for."""
    given = {"target": "lake.shop.orders", "holder": holder, "seconds": 60.0, **more}
    lease = stage.ledger.take("orders", START, END, **given).lease
    assert lease is not None
    return lease


def test_the_lease_is_held_while_the_task_runs_and_given_back(
    stage: Stage, make: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In this process's name, with a fence below the attempt's; free afterwards."""
    seen = []
    carry_out = stage.engine.carry_out

    def look(task: Any, window: Any, token: Any, **options: Any) -> Any:
        seen.extend(stage.ledger.leases())
        assert seen[0].fence < token.fence
        return carry_out(task, window, token, **options)

    monkeypatch.setattr(stage.engine, "carry_out", look)
    stage.run([make.task()])
    assert [(each.task, each.holder) for each in seen] == [("orders", this_process())]
    assert stage.ledger.leases() == []


@pytest.mark.parametrize("fault", [EngineFailed("no"), KeyboardInterrupt(), ZeroDivisionError()])
def test_scenario_23_the_lease_is_given_back_however_the_run_ends(
    stage: Stage, make: Maker, fault: BaseException
) -> None:
    """A failure, Ctrl-C and a fault of Setpoint itself leave no lease behind."""
    stage.engine.ahead = [fault]
    if isinstance(fault, EngineFailed):
        stage.run([make.task()])
    else:
        with pytest.raises(type(fault)):
            stage.run([make.task()])
        ((_, _, token),) = stage.engine.writes
        assert stage.engine.cancelled == [token]
    assert stage.ledger.leases() == []


def test_scenario_11_a_live_holder_is_waited_for_and_named(stage: Stage, make: Maker) -> None:
    """One line says whom the command waits for; once that one is done it goes on."""
    other = taken(stage)
    run = stage.ledger.begin(
        "orders", START, END, target="t", fingerprint="c", pid=4711, host="elsewhere"
    )

    def done_at_third(seconds: float) -> None:
        assert seconds > 0
        stage.waits.append(seconds)
        if len(stage.waits) == 3:
            stage.ledger.succeed(run.run_id, run.fence, rows=1)
            stage.ledger.release(other)

    stage.wait = done_at_third  # type: ignore[method-assign]
    (result,) = stage.run([make.task()])
    assert result.state == "succeeded"
    (line,) = [line for line in stage.diary.lines if line.startswith("said")]
    since = f"{other.taken_at:%H:%M:%SZ}"
    assert line == (
        f"said orders  2026-04-25  waits for run {run.run_id}"
        f" (pid 4711 on elsewhere, since {since})"
    )
    assert stage.waits == sorted(stage.waits)


def test_scenario_11_without_waiting_the_window_is_refused(stage: Stage, make: Maker) -> None:
    """Nothing is recorded or written; the words say who is at work and what to type."""
    taken(stage)
    stage.patient = False
    (result,) = stage.run([make.task()])
    assert (result.state, result.run_id, stage.engine.writes) == ("failed", None, [])
    assert isinstance(result.error, LeaseHeld)
    assert "pid 4711 on elsewhere" in result.error.message
    assert result.error.next_step == "without --no-wait the command waits for it"
    assert stage.ledger.runs() == []


def test_a_holder_of_this_machine_can_be_ended_by_its_number(stage: Stage, make: Maker) -> None:
    """The refusal says how, where it is possible."""
    taken(stage, this_process())
    stage.patient = False
    (result,) = stage.run([make.task()])
    assert result.error is not None
    assert f"kill {this_process().pid}" in (result.error.next_step or "")


def test_a_holder_that_died_on_this_machine_is_taken_over_at_once(
    stage: Stage, make: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No wait, a line that says so, and the dead one's run goes on."""
    dead = taken(stage)
    monkeypatch.setattr(lease_keeper, "is_gone", lambda holder: holder == dead.holder)
    (result,) = stage.run([make.task()])
    assert (result.state, stage.waits) == ("succeeded", [])
    assert any("takes over from" in line for line in stage.diary.lines)


def test_a_holder_of_another_machine_is_taken_over_once_it_was_silent_for_its_term(
    make: Maker,
) -> None:
    """By the waiter's own time, while it looks on; a beat in between begins the term anew."""
    ledger, now = MemoryLedger(), [0.0]
    said: list[str] = []
    task = make.task(grain=None)
    grant = ledger.take("orders", None, None, target="t", holder=ELSEWHERE, seconds=5.0)
    assert grant.lease is not None
    other = grant.lease

    def wait(seconds: float) -> None:
        before, now[0] = now[0], now[0] + seconds
        if before < 4 <= now[0]:
            ledger.renew(other)

    keeper = LeaseKeeper(ledger, say=said.append, wait=wait, clock=lambda: now[0])
    with keeper, keeper.holding(task, None) as held:
        assert ledger.leases() == [held.lease]
        assert held.lease.fence > other.fence
    assert 9 <= now[0] <= 11
    assert ["waits for" in said[0], "takes over from" in said[1], len(said)] == [True, True, 2]


def loses(stage: Stage, monkeypatch: pytest.MonkeyPatch, fault: BaseException | None) -> None:
    """Let another process take the lease in the middle of the write, and the heart notice it."""
    carry_out = stage.engine.carry_out
    stopped = threading.Event()
    cancel = stage.engine.cancel

    def cancelled(token: Any) -> None:
        cancel(token)
        stopped.set()

    def overtaken(task: Any, window: Any, token: Any, **options: Any) -> Any:
        (lease,) = stage.ledger.leases()
        taken(stage, over=[lease])
        assert stopped.wait(20)
        if fault:
            raise fault
        return carry_out(task, window, token, **options)

    monkeypatch.setattr(stage.engine, "cancel", cancelled)
    monkeypatch.setattr(stage.engine, "carry_out", overtaken)


@pytest.mark.parametrize("fault", [None, EngineFailed("cancelled"), Transient("cancelled")])
def test_scenario_14_a_run_that_lost_its_lease_stops_itself_and_says_to_whom(
    stage: Stage, make: Maker, monkeypatch: pytest.MonkeyPatch, fault: BaseException | None
) -> None:
    """Its jobs are cancelled; what came of them, even a commit, is neither recorded nor retried."""
    stage.lease_seconds = 0.05
    loses(stage, monkeypatch, fault)
    retry = Retry(retries=3, backoff=Backoff(first=1, factor=2, jitter=0))
    (result,) = stage.run([make.task(retry=retry)])
    assert (result.state, result.attempts) == ("failed", 1)
    assert isinstance(result.error, LeaseLost)
    assert "process 4711 on elsewhere took orders over" in result.error.message
    assert len(stage.engine.cancelled) == 1
    assert [lease.holder for lease in stage.ledger.leases()] == [ELSEWHERE]
    assert stage.ledger.runs()[0].state == "running"  # the taker's to end


def test_scenario_15_renewals_that_fail_for_a_while_do_no_harm(
    stage: Stage, make: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ledger is away for some beats; nobody took over, so the run ends well."""
    stage.lease_seconds = 0.04
    renew, beats = stage.ledger.renew, []
    back = threading.Event()

    def away(lease: Lease) -> Lease:
        beats.append(lease.beat)
        if len(beats) < 4:
            raise LedgerError("the server went away")
        renewed = renew(lease)
        back.set()
        return renewed

    monkeypatch.setattr(stage.ledger, "renew", away)
    carry_out = stage.engine.carry_out

    def slow(*given: Any, **options: Any) -> Any:
        assert back.wait(20)
        return carry_out(*given, **options)

    monkeypatch.setattr(stage.engine, "carry_out", slow)
    (result,) = stage.run([make.task()])
    assert (result.state, stage.engine.cancelled) == ("succeeded", [])
    assert beats[:4] == [0, 0, 0, 0]


def test_a_task_that_a_new_ledger_does_not_know_begins_above_its_tables_fences(
    stage: Stage, make: Maker
) -> None:
    """The ledger was deleted, the table was not: fences go on from the table's."""
    stage.engine.fence_seen = 500
    stage.run([make.task()])
    ((_, _, token),) = stage.engine.writes
    assert token.fence > 500
    stage.engine.fence_seen = 9000
    stage.run([make.task()])
    assert stage.engine.writes[-1][2].fence < 9000  # not asked again


def test_a_lease_lost_between_two_attempts_ends_the_run(
    stage: Stage, make: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next attempt is not opened, and the other tasks of the plan go on."""
    carry_out = stage.engine.carry_out

    def overtaken(task: Any, window: Any, token: Any, **options: Any) -> Any:
        if task.name == "orders":
            (lease,) = stage.ledger.leases()
            taken(stage, over=[lease])
        return carry_out(task, window, token, **options)

    monkeypatch.setattr(stage.engine, "carry_out", overtaken)
    stage.engine.ahead = [Transient("away")]
    lost, fine = stage.run([make.task(retry=Retry(retries=2)), make.task("z")])
    assert isinstance(lost.error, LeaseLost)
    assert fine.state == "succeeded"


def test_two_silent_holders_are_both_taken_over(make: Maker) -> None:
    """One fell silent later than the other: both are watched until the end."""
    ledger, now = MemoryLedger(), [0.0]
    task = make.task(grain=None)
    days = [(START, END), (END, END + (END - START))]
    for seconds, (start, end) in zip((3.0, 7.0), days, strict=True):
        ledger.take("orders", start, end, target="t", holder=ELSEWHERE, seconds=seconds)

    def wait(seconds: float) -> None:
        now[0] += seconds
        assert now[0] < 60, "never taken over"

    keeper = LeaseKeeper(ledger, wait=wait, clock=lambda: now[0])
    with keeper, keeper.holding(task, None) as held:
        assert ledger.leases() == [held.lease]
    assert 7 <= now[0] <= 9


def test_a_table_that_cannot_be_asked_for_its_fences_is_the_attempts_to_meet(
    stage: Stage, make: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault before the first attempt is recorded and retried as any other."""

    def away(_: Any) -> int:
        raise Transient("the server went away")

    monkeypatch.setattr(stage.engine, "highest_fence", away)
    stage.engine.ahead = [Transient("the server went away")]
    (result,) = stage.run([make.task(retry=Retry(retries=1))])
    assert (result.state, result.attempts) == ("succeeded", 2)
