"""What every ledger records, and what it refuses to record."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

import pytest

from setpoint.errors import LedgerError, StaleFence

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.ledger.conftest import Clock, Scene

    from setpoint.ledger.protocol import Ledger
    from setpoint.ledger.record import Detail


def test_a_first_run_opens_its_first_attempt(ledger: Ledger, scene: Scene) -> None:
    """`begin` on a new window gives a run in state running, attempt 1, and no predecessors."""
    started = scene.begin(scene.day(25))
    assert (started.run.state, started.number, started.predecessors) == ("running", 1, ())
    assert not started.continues
    run = ledger.run(started.run_id)
    assert run == started.run
    assert (run.task, run.window_start, run.window_end) == ("orders", *scene.day(25))
    assert (run.target, run.fingerprint, run.pid, run.host) == (
        "lake.shop.orders",
        "code-1",
        100,
        "here",
    )
    assert ledger.attempts(started.run_id) == [started.attempt]


def test_success_keeps_everything_that_was_said(ledger: Ledger, scene: Scene) -> None:
    """Rows, snapshot, checksum, time and nested detail are read back as they were given."""
    started = scene.begin()
    detail: Detail = {"sources": {"orders": 17}, "windows": [1, 2.5, None, True], "adopted": False}
    given = ledger.succeed(
        started.run_id,
        started.fence,
        rows=250_000,
        snapshot="4711",
        checksum="ck1:3:a:b",
        seconds=2.25,
        detail=detail,
    )
    run = ledger.run(started.run_id)
    assert run == given
    assert (run.state, run.rows, run.snapshot, run.checksum, run.seconds, run.detail) == (
        "succeeded",
        250_000,
        "4711",
        "ck1:3:a:b",
        2.25,
        detail,
    )
    assert run.finished_at
    assert run.finished_at > run.started_at
    (attempt,) = ledger.attempts(run.run_id)
    assert (attempt.state, attempt.seconds, attempt.finished_at) == (
        "succeeded",
        2.25,
        run.finished_at,
    )


def test_failure_keeps_the_error_on_one_printable_line(ledger: Ledger, scene: Scene) -> None:
    """Line breaks and control characters of an error never reach the ledger's readers."""
    started = scene.begin()
    ledger.fail(
        started.run_id,
        started.fence,
        error="first\n  second\x1b[31m\udc80 end" + "x" * 5000,
        error_kind="GateFailed",
        seconds=1.5,
        detail={"gate": "unique"},
    )
    run = ledger.run(started.run_id)
    assert run.error
    assert run.error.startswith("first second [31m end")
    assert len(run.error) == 2000
    assert (run.state, run.error_kind, run.seconds) == ("failed", "GateFailed", 1.5)
    assert run.detail == {"gate": "unique"}
    assert ledger.attempts(run.run_id)[0].error == run.error


def test_retry_opens_the_next_attempt_of_the_same_run(ledger: Ledger, scene: Scene) -> None:
    """A retry has a higher fence, keeps the failed try, and the run's time is that of all."""
    first = scene.begin()
    second = ledger.retry(
        first.run_id, first.fence, error="lost\nlink", error_kind="Transient", seconds=1.0, pid=7
    )
    assert (second.run_id, second.number) == (first.run_id, 2)
    assert second.fence > first.fence
    assert [each.fence for each in second.predecessors] == [first.fence]
    run = ledger.succeed(second.run_id, second.fence, rows=1, seconds=2.0)
    assert (run.attempts, run.fence, run.seconds, run.error) == (2, second.fence, 3.0, None)
    failed, succeeded = ledger.attempts(run.run_id)
    assert (failed.state, failed.error, failed.error_kind, failed.pid) == (
        "failed",
        "lost link",
        "Transient",
        100,
    )
    assert (succeeded.state, succeeded.pid, succeeded.host) == ("succeeded", 7, "here")


def test_a_run_that_ended_is_followed_by_a_new_run(ledger: Ledger, scene: Scene) -> None:
    """Running a window again after success or failure keeps the old run in the history."""
    first = scene.done()
    second = scene.broken()
    third = scene.begin()
    assert len({first.run_id, second.run_id, third.run_id}) == 3
    assert third.predecessors == ()
    assert [run.run_id for run in ledger.runs()] == [third.run_id, second.run_id, first.run_id]
    assert [run.run_id for run in ledger.latest()] == [third.run_id]


def test_a_run_whose_process_died_is_continued(ledger: Ledger, scene: Scene) -> None:
    """The same code goes on as the same run, and learns the fences whose commit may be there."""
    first = scene.begin(pid=1)
    second = scene.begin(pid=2)
    third = scene.begin(pid=3, run_id="not-needed")
    assert first.run_id == second.run_id == third.run_id
    assert third.continues
    assert [each.fence for each in third.predecessors] == [first.fence, second.fence]
    assert [each.pid for each in third.predecessors] == [1, 2]
    assert (third.run.attempts, third.run.pid, third.run.fence) == (3, 3, third.fence)
    assert [each.state for each in ledger.attempts(third.run_id)] == ["lost", "lost", "running"]
    assert ledger.run(third.run_id) == third.run


def test_changed_code_abandons_the_dead_run(ledger: Ledger, scene: Scene) -> None:
    """With another fingerprint the open run fails with the reason, and a new one begins."""
    old = scene.begin(fingerprint="code-1")
    new = scene.begin(fingerprint="code-2")
    assert new.run_id != old.run_id
    assert new.predecessors == ()
    abandoned = ledger.run(old.run_id)
    assert (abandoned.state, abandoned.error_kind) == ("failed", "Abandoned")
    assert "code changed" in (abandoned.error or "")
    assert [each.state for each in ledger.attempts(old.run_id)] == ["lost"]
    assert ledger.scope("orders", *scene.day(1)) == new.run


def test_an_adopted_commit_is_told_from_one_of_this_attempt(ledger: Ledger, scene: Scene) -> None:
    """Adoption is a success of the run, and says that this attempt wrote nothing."""
    scene.begin()
    heir = scene.begin()
    run = ledger.succeed(
        heir.run_id, heir.fence, rows=5, snapshot="9", detail={"by": 1}, adopted=True
    )
    assert (run.state, run.detail) == ("succeeded", {"by": 1, "adopted": True})
    assert [each.state for each in ledger.attempts(run.run_id)] == ["lost", "adopted"]


@pytest.mark.parametrize("taken_over", ["same code", "other code", "batch"])
@pytest.mark.parametrize("call", ["succeed", "fail", "retry"])
def test_an_attempt_that_was_taken_over_is_refused(
    ledger: Ledger, scene: Scene, taken_over: str, call: str
) -> None:
    """A process that wakes late cannot record anything, whoever has taken its window over."""
    late = scene.begin()
    if taken_over == "batch":
        ledger.record_many([scene.outcome(1)], pid=1, host="there")
    else:
        scene.begin(fingerprint="code-1" if taken_over == "same code" else "code-2")
    before = ledger.runs(), ledger.attempts(late.run_id)
    calls: dict[str, Callable[[], object]] = {
        "succeed": lambda: ledger.succeed(late.run_id, late.fence, rows=1),
        "fail": lambda: ledger.fail(late.run_id, late.fence, error="e", error_kind="k"),
        "retry": lambda: ledger.retry(late.run_id, late.fence, error="e", error_kind="k"),
    }
    with pytest.raises(StaleFence, match=f"fence {late.fence + 1} is newer"):
        calls[call]()
    assert (ledger.runs(), ledger.attempts(late.run_id)) == before


def test_fences_only_grow_over_all_tasks_and_windows(ledger: Ledger, scene: Scene) -> None:
    """No two attempts share a fence, whatever they run."""
    first = scene.begin(scene.day(1))
    second = scene.begin(scene.day(1), task="other")
    third = ledger.retry(first.run_id, first.fence, error="e", error_kind="k")
    (fourth,) = ledger.record_many([scene.outcome(9)], pid=1, host="h")
    fences = [first.fence, second.fence, third.fence, fourth.fence]
    assert fences == sorted(set(fences))


def test_a_wrong_clock_decides_nothing(ledger: Ledger, scene: Scene, clock: Clock) -> None:
    """A successor whose clock is hours behind still wins, and is shown as the newer one."""
    early = scene.begin()
    clock.at -= timedelta(hours=7)
    late = scene.begin(fingerprint="code-2")
    assert late.run.started_at < early.run.started_at
    assert [run.run_id for run in ledger.runs()] == [late.run_id, early.run_id]
    ledger.succeed(late.run_id, late.fence, rows=1)
    with pytest.raises(StaleFence):
        ledger.succeed(early.run_id, early.fence, rows=2)


def test_the_same_end_told_twice_changes_nothing(ledger: Ledger, scene: Scene) -> None:
    """A caller that did not hear the answer may ask again; the first word stands."""
    started = scene.begin()
    first = ledger.succeed(started.run_id, started.fence, rows=1)
    assert ledger.succeed(started.run_id, started.fence, rows=2) == first
    failed = scene.begin(scene.day(2))
    told = ledger.fail(failed.run_id, failed.fence, error="a", error_kind="k")
    assert ledger.fail(failed.run_id, failed.fence, error="b", error_kind="k") == told
    assert ledger.run(failed.run_id).error == "a"


def test_an_ended_run_cannot_end_otherwise(ledger: Ledger, scene: Scene) -> None:
    """Success does not become failure, nor failure success, nor either a further attempt."""
    good, bad = scene.done(scene.day(1)), scene.broken(scene.day(2))
    with pytest.raises(LedgerError, match="already succeeded"):
        ledger.fail(good.run_id, good.fence, error="e", error_kind="k")
    with pytest.raises(LedgerError, match="already failed"):
        ledger.succeed(bad.run_id, bad.fence, rows=1)
    with pytest.raises(LedgerError, match="already failed"):
        ledger.retry(bad.run_id, bad.fence, error="e", error_kind="k")


def test_a_fence_that_was_never_given_is_refused(ledger: Ledger, scene: Scene) -> None:
    """A made-up fence, one of another run, or an unknown run changes nothing."""
    one, other = scene.begin(scene.day(1)), scene.begin(scene.day(2))
    with pytest.raises(LedgerError, match="never given"):
        ledger.succeed(one.run_id, other.fence, rows=1)
    with pytest.raises(LedgerError, match="no run nobody"):
        ledger.succeed("nobody", 1, rows=1)
    with pytest.raises(LedgerError, match="no run nobody"):
        ledger.set_checksum("nobody", "ck1")
    assert [run.state for run in ledger.runs()] == ["running", "running"]


def test_a_checksum_can_be_added_to_a_success_only(ledger: Ledger, scene: Scene) -> None:
    """`set_checksum` completes a run that succeeded; another has no content to sum."""
    run = scene.done()
    ledger.set_checksum(run.run_id, "ck1:1")
    assert ledger.run(run.run_id).checksum == "ck1:1"
    bad = scene.broken(scene.day(2))
    with pytest.raises(LedgerError, match="is failed"):
        ledger.set_checksum(bad.run_id, "ck1:2")


def test_a_run_id_may_be_chosen_once(ledger: Ledger, scene: Scene) -> None:
    """The caller names a run; a name that is taken is refused before anything changes."""
    assert scene.begin(scene.day(1), run_id="night-1").run_id == "night-1"
    with pytest.raises(LedgerError, match="night-1 is already"):
        scene.begin(scene.day(2), run_id="night-1")
    assert ledger.scope("orders", *scene.day(2)) is None


def test_windows_are_told_apart_to_the_microsecond_and_kept_in_utc(
    ledger: Ledger, scene: Scene
) -> None:
    """The same moment in another time zone is the same window; a microsecond more is not."""
    east = timezone(timedelta(hours=2))
    start, end = scene.day(3)
    one = scene.begin((start, end))
    same = scene.begin((start.astimezone(east), end.astimezone(east)))
    other = scene.begin((start, end + timedelta(microseconds=1)))
    assert same.run_id == one.run_id != other.run_id
    assert same.run.window_start == start
    assert same.run.window_start.tzinfo == timezone.utc
    assert ledger.scope("orders", start.astimezone(east), end) == same.run


@pytest.mark.parametrize(
    ("window", "why"),
    [
        ((datetime(2026, 4, 1, tzinfo=timezone.utc), None), "only one edge"),
        (
            (datetime(2026, 4, 2, tzinfo=timezone.utc), datetime(2026, 4, 1, tzinfo=timezone.utc)),
            "ends before",
        ),
        ((datetime(2026, 4, 1), datetime(2026, 4, 2)), "no time zone"),  # noqa: DTZ001
    ],
)
def test_a_window_that_is_none_is_refused(
    ledger: Ledger, scene: Scene, window: tuple[datetime, datetime], why: str
) -> None:
    """Half a window, a reversed one and one without a time zone never reach the ledger."""
    with pytest.raises(ValueError, match=why):
        scene.begin(window)
    assert ledger.runs() == []


def test_many_windows_are_recorded_together_or_not_at_all(ledger: Ledger, scene: Scene) -> None:
    """A batch has a run and a fence a window, in its order; one bad outcome keeps out all."""
    held = scene.done(scene.day(2))
    runs = ledger.record_many((scene.outcome(n, rows=n) for n in (1, 2, 3)), pid=5, host="there")
    assert [run.rows for run in runs] == [1, 2, 3]
    assert [run.fence for run in runs] == [held.fence + 1, held.fence + 2, held.fence + 3]
    assert ledger.scope("orders", *scene.day(2)) == runs[1]
    assert ledger.run(held.run_id).state == "succeeded"
    assert [each.state for each in ledger.attempts(runs[0].run_id)] == ["succeeded"]
    before = ledger.runs()
    bad = replace(scene.outcome(5), detail={"x": float("nan")})
    with pytest.raises(ValueError, match="JSON"):
        ledger.record_many([scene.outcome(4), bad], pid=5, host="there")
    assert ledger.runs() == before
    assert scene.begin(scene.day(6)).fence == runs[-1].fence + 1


def test_a_batch_ends_the_open_run_of_its_window(ledger: Ledger, scene: Scene) -> None:
    """A window recorded by a batch has one latest run; the open one is failed with the reason."""
    open_run = scene.begin(scene.day(1))
    (run,) = ledger.record_many([scene.outcome(1)], pid=1, host="there")
    assert ledger.latest() == [run]
    assert ledger.run(open_run.run_id).error_kind == "Abandoned"
    assert [each.state for each in ledger.attempts(open_run.run_id)] == ["lost"]


def test_a_failed_outcome_keeps_its_error_and_chosen_id(ledger: Ledger, scene: Scene) -> None:
    """A batch may hold windows that failed."""
    bad = replace(scene.outcome(5), state="failed", error="a\nb", run_id="mine")
    (run,) = ledger.record_many([bad], pid=1, host="there")
    assert (run.run_id, run.state, run.error) == ("mine", "failed", "a b")
    assert ledger.run("mine") == run


def test_what_a_reader_does_to_its_copy_stays_there(ledger: Ledger, scene: Scene) -> None:
    """Changing the detail of a run that was read does not change the record."""
    started = scene.begin()
    ledger.succeed(started.run_id, started.fence, rows=1, detail={"a": [1]})
    read = ledger.run(started.run_id)
    assert isinstance(read.detail, dict)
    read.detail["a"].append(2)
    assert ledger.run(started.run_id).detail == {"a": [1]}
