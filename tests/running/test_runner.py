"""The runner: data first, ledger second, one attempt after another."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from setpoint.errors import (
    CommitConflict,
    EngineFailed,
    GateFailed,
    LedgerError,
    SetpointError,
    StaleFence,
    Transient,
)
from setpoint.model.graph import Graph
from setpoint.model.plan import Dates, Plan, make_plan
from setpoint.model.retry import Backoff, Retry
from setpoint.running.listener import Silence
from setpoint.running.runner import Runner

if TYPE_CHECKING:
    from tests.running.conftest import Stage
    from tests.task_maker import Maker

STEADY = Backoff(first=1, factor=2, jitter=0)


def test_a_run_is_recorded_with_what_it_did(stage: Stage, make: Maker) -> None:
    """Rows, snapshot, inputs and the code's fingerprint stand in the ledger afterwards."""
    (result,) = stage.run([make.task()])
    assert (result.state, result.rows, result.replaced, result.snapshot) == (
        "succeeded",
        10,
        4,
        "s1",
    )
    assert (result.attempts, result.checksum, result.adopted) == (1, None, False)
    (run,) = stage.ledger.runs()
    assert (run.run_id, run.state, run.rows, run.snapshot) == (result.run_id, "succeeded", 10, "s1")
    assert (run.target, run.fingerprint) == ("lake.shop.orders", "code-1")
    assert run.detail["inputs"] == {"raw": "77"}
    assert run.detail["replaced"] == 4


def test_the_commit_token_is_that_of_the_ledger(stage: Stage, make: Maker) -> None:
    """What the write carries is what the ledger knows, so that it can be recognised later."""
    stage.run([make.task()])
    ((_, _, token),) = stage.engine.writes
    (run,) = stage.ledger.runs()
    assert (token.run_id, token.fence) == (run.run_id, run.fence)


def test_a_step_of_a_replay_reads_the_snapshots_that_it_names(stage: Stage, make: Maker) -> None:
    """What the plan says is what the engine is told (D6)."""
    step = make_plan(Graph.of([make.task()]), select=(), dates=Dates(ds="2026-04-25")).steps[0]
    plan = Plan(steps=(replace(step, as_of={"lake.raw.orders": "7"}),))
    Runner(engine=stage.engine, ledger=stage.ledger).run(plan)
    assert stage.engine.as_of == {"lake.raw.orders": "7"}


def test_a_transient_fault_is_tried_again_after_growing_waits(stage: Stage, make: Maker) -> None:
    """Each attempt stands in the ledger with its error, its kind and a higher fence (F1)."""
    stage.engine.ahead = [Transient("the network went away"), CommitConflict("somebody wrote")]
    task = make.task(retry=Retry(retries=2, backoff=STEADY))
    (result,) = stage.run([task])
    assert (result.state, result.attempts) == ("succeeded", 3)
    assert stage.waits == [1, 2]
    attempts = stage.ledger.attempts(result.run_id or "")
    assert [(a.state, a.error, a.error_kind) for a in attempts] == [
        ("failed", "the network went away", "Transient"),
        ("failed", "somebody wrote", "CommitConflict"),
        ("succeeded", None, None),
    ]
    fences = [a.fence for a in attempts]
    assert fences == sorted(set(fences))
    assert [token.fence for _, _, token in stage.engine.writes] == fences


def test_retries_end_and_the_last_error_is_the_runs(stage: Stage, make: Maker) -> None:
    """One retry makes two attempts; then the run has failed."""
    stage.engine.ahead = [Transient("once"), Transient("twice"), None]
    (result,) = stage.run([make.task(retry=Retry(retries=1, backoff=STEADY))])
    assert (result.state, result.attempts) == ("failed", 2)
    assert result.error is not None
    assert result.error.message == "twice"
    (run,) = stage.ledger.runs()
    assert (run.state, run.error, run.error_kind) == ("failed", "twice", "Transient")


@pytest.mark.parametrize(
    "fault",
    [
        EngineFailed("no such column"),
        GateFailed("two rows of one key", gate="unique", expected="1", found="2"),
    ],
)
def test_a_permanent_fault_is_not_tried_again(
    stage: Stage, make: Maker, fault: SetpointError
) -> None:
    """What would fail the same way again fails at once, however many retries there are."""
    stage.engine.ahead = [fault]
    (result,) = stage.run([make.task(retry=Retry(retries=5))])
    assert (result.state, result.attempts, result.error) == ("failed", 1, fault)
    assert stage.waits == []


def test_what_depends_on_a_failed_task_is_skipped(stage: Stage, make: Maker) -> None:
    """The skip goes all the way down, names its cause, and leaves other tasks alone."""
    tasks = [
        make.task("a"),
        make.task("b", reads=("a",)),
        make.task("c", reads=("b",)),
        make.task("z"),
    ]
    stage.engine.ahead = [EngineFailed("broken")]
    results = {result.step.task.name: result for result in stage.run(tasks)}
    assert {name: result.state for name, result in results.items()} == {
        "a": "failed",
        "b": "skipped",
        "c": "skipped",
        "z": "succeeded",
    }
    assert str(results["c"].error) == "not run: b did not succeed"
    assert {run.task for run in stage.ledger.runs()} == {"a", "z"}


@pytest.mark.parametrize("bounded", [True, False])
def test_a_failed_window_stops_the_windows_that_read_it(
    stage: Stage, make: Maker, bounded: bool
) -> None:
    """A task that reads the whole table waits for all windows; a bounded one for its own."""
    stage.engine.ahead = [None, EngineFailed("bad day"), None]
    reader = make.task("b", reads=("a",))
    if not bounded:
        reader = replace(reader, sources=(replace(reader.sources[0], event_time=None),))
    results = stage.run([make.task("a"), reader], Dates(start="2026-04-01", end="2026-04-04"))
    other = "succeeded" if bounded else "skipped"
    assert [result.state for result in results] == [
        *("succeeded", "failed", "succeeded"),
        *(other, "skipped", other),
    ]


def test_a_commit_whose_answer_was_lost_is_adopted(stage: Stage, make: Maker) -> None:
    """The retry looks the commit up instead of writing again (A2)."""
    stage.engine.ahead = [Transient("connection cut after the commit")]
    stage.engine.lost_answers = 1
    (result,) = stage.run([make.task(retry=Retry(retries=1, backoff=STEADY))])
    assert (result.state, result.adopted, result.attempts, result.rows) == (
        "succeeded",
        True,
        2,
        10,
    )
    assert len(stage.engine.writes) == 1
    assert stage.engine.looked_for == [result.run_id]
    states = [attempt.state for attempt in stage.ledger.attempts(result.run_id or "")]
    assert "adopted" in states


def dead_run(stage: Stage, make: Maker) -> str:
    """An attempt whose process died: open in the ledger, nobody at work on it."""
    window = make.task().grain
    assert window is not None
    from setpoint.model.grain import parse_instant

    day = window.window_at(parse_instant("2026-04-25"))
    return stage.ledger.begin(
        "orders",
        day.start,
        day.end,
        target="lake.shop.orders",
        fingerprint="code-1",
        pid=1,
        host="elsewhere",
    ).run_id


def test_the_commit_of_a_dead_process_is_adopted(stage: Stage, make: Maker) -> None:
    """Killed between commit and ledger: the next run finds the token and writes nothing."""
    run_id = dead_run(stage, make)
    stage.engine.commits[run_id] = stage.engine.outcome
    (result,) = stage.run([make.task()])
    assert (result.run_id, result.adopted, stage.engine.writes) == (run_id, True, [])


def test_a_dead_process_without_a_commit_is_run_again(stage: Stage, make: Maker) -> None:
    """Killed before the commit: the next run looks, finds nothing, and writes under a new fence."""
    run_id = dead_run(stage, make)
    (result,) = stage.run([make.task()])
    assert (result.run_id, result.adopted, result.attempts) == (run_id, False, 2)
    assert stage.engine.looked_for == [run_id]
    ((_, _, token),) = stage.engine.writes
    assert token.fence == stage.ledger.runs()[0].fence


def test_a_first_attempt_does_not_search_the_tables_history(stage: Stage, make: Maker) -> None:
    """Nothing can have been committed before the first attempt."""
    stage.run([make.task()])
    stage.run([make.task()])
    assert stage.engine.looked_for == []


def test_a_checksum_is_computed_only_when_asked_for(stage: Stage, make: Maker) -> None:
    """A run does not pay for it otherwise; when asked, it is of the snapshot just written."""
    stage.run([make.task()])
    assert stage.engine.checksums == []
    (result,) = stage.run([make.task()], checksum=True)
    assert result.checksum == "ck1:10:aa"
    assert stage.engine.checksums == ["s1"]
    assert stage.ledger.runs()[0].checksum == "ck1:10:aa"


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), SystemExit(143), ZeroDivisionError("oops")])
def test_an_interrupted_run_is_marked_failed(
    stage: Stage, make: Maker, stop: BaseException
) -> None:
    """Ctrl-C and faults of Setpoint itself leave no run open that nobody works on."""
    stage.engine.ahead = [stop]
    with pytest.raises(type(stop)):
        stage.run([make.task()])
    (run,) = stage.ledger.runs()
    assert (run.state, run.error_kind) == ("failed", type(stop).__name__)
    assert run.error == f"interrupted: {type(stop).__name__}"


def test_ctrl_c_while_waiting_for_the_next_attempt_marks_the_run_failed(
    stage: Stage, make: Maker
) -> None:
    """The wait between attempts may last minutes: it is where Ctrl-C comes most."""
    stage.engine.ahead = [Transient("away")]
    stage.wait_raises = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        stage.run([make.task(retry=Retry(retries=3))])
    (run,) = stage.ledger.runs()
    assert (run.state, run.error) == ("failed", "interrupted: KeyboardInterrupt")


def test_ctrl_c_stays_ctrl_c_when_the_ledger_cannot_be_written(
    stage: Stage, make: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk on the way out does not turn an interrupt into another error."""

    def full(*_: Any, **__: Any) -> None:
        raise LedgerError("no space left")

    monkeypatch.setattr(stage.ledger, "fail", full)
    stage.engine.ahead = [KeyboardInterrupt()]
    with pytest.raises(KeyboardInterrupt):
        stage.run([make.task()])


def test_a_run_that_was_taken_over_is_told_so_and_the_others_go_on(
    stage: Stage, make: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fenced off by a newer attempt: a failed result with the reason, not the end of the plan."""
    carry_out = stage.engine.carry_out

    def overtaken(task: Any, window: Any, token: Any, **options: Any) -> Any:
        if task.name == "a":
            stage.ledger.begin(
                "a",
                window.start,
                window.end,
                target="lake.shop.a",
                fingerprint="code-1",
                pid=2,
                host="elsewhere",
            )
        return carry_out(task, window, token, **options)

    monkeypatch.setattr(stage.engine, "carry_out", overtaken)
    first, second = stage.run([make.task("a"), make.task("z")])
    assert (first.state, second.state) == ("failed", "succeeded")
    assert isinstance(first.error, StaleFence)
    assert stage.ledger.runs("a")[0].state == "running"
    assert "finished a failed" in stage.diary.lines


def test_the_listener_hears_of_each_thing_in_order(stage: Stage, make: Maker) -> None:
    """Started, retrying with the wait, finished; a skipped step only ends."""
    stage.engine.ahead = [Transient("away"), EngineFailed("broken")]
    stage.run(
        [make.task("a", retry=Retry(retries=1, backoff=STEADY)), make.task("b", reads=("a",))]
    )
    assert stage.diary.lines == [
        "started a 2026-04-25",
        "retrying a in 1: away",
        "finished a failed",
        "finished b skipped",
    ]


def test_silence_hears_everything_and_says_nothing(
    stage: Stage, make: Maker, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a listener a run is quiet."""
    stage.engine.ahead = [Transient("away")]
    stage.diary = Silence()  # type: ignore[assignment]
    Silence().said("hello")
    stage.run([make.task("a", retry=Retry(retries=1)), make.task("b", reads=("a",))])
    assert capsys.readouterr() == ("", "")
    assert isinstance(Runner(engine=stage.engine, ledger=stage.ledger).listener, Silence)


def test_a_task_without_windows_runs_on_its_whole_table(stage: Stage, make: Maker) -> None:
    """No edges in the ledger, none in the document."""
    (result,) = stage.run([make.task(grain=None)])
    document = result.document()
    assert document["window_start"] is None
    assert document["window_end"] is None
    assert stage.ledger.runs()[0].window_start is None


def test_the_document_has_the_documented_fields(stage: Stage, make: Maker) -> None:
    """Programs read these names; a failure carries its message."""
    stage.engine.ahead = [EngineFailed("broken")]
    (result,) = stage.run([make.task()])
    document = result.document()
    assert set(document) == {
        "task",
        "window_start",
        "window_end",
        "state",
        "attempts",
        "rows",
        "checksum",
        "run_id",
        "snapshot",
        "seconds",
        "error",
    }
    assert document["window_start"] == "2026-04-25T00:00:00Z"
    assert document["window_end"] == "2026-04-26T00:00:00Z"
    assert (document["state"], document["error"]) == ("failed", "broken")


def test_a_commit_by_the_attempt_that_was_taken_over_is_adopted(stage: Stage, make: Maker) -> None:
    """Two commands on one window: the older one commits first, the newer meets it and is green."""
    run_id = dead_run(stage, make)
    stage.engine.ahead = [CommitConflict("somebody wrote")]
    stage.engine.lost_answers = 1
    (result,) = stage.run([make.task()])
    assert (result.state, result.adopted, result.run_id) == ("succeeded", True, run_id)
    assert stage.engine.looked_for == [run_id, run_id]


def test_a_conflict_with_a_stranger_stays_one(stage: Stage, make: Maker) -> None:
    """A commit that is not this run's is nothing to adopt."""
    dead_run(stage, make)
    stage.engine.ahead = [CommitConflict("somebody wrote")]
    (result,) = stage.run([make.task()])
    assert result.state == "failed"
    assert isinstance(result.error, CommitConflict)
