"""The runner and its effects: recorded from what was committed, sent once, at every crash point."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from setpoint.engine.protocol import Outcome
from setpoint.errors import GateFailed, Transient
from setpoint.ledger.outbox import Selection
from setpoint.model.graph import Graph
from setpoint.model.plan import Dates, make_plan
from setpoint.model.receiver import call
from setpoint.model.retry import Backoff, Retry
from setpoint.running.runner import Runner

if TYPE_CHECKING:
    from tests.running.conftest import Stage
    from tests.task_maker import Maker

    from setpoint.model.task import Task

AT_ONCE = Backoff(first=0.0, longest=0.0)


class Bell:
    """A receiver in the same process: notes what it is told, and breaks when it should."""

    def __init__(self) -> None:
        self.rung: list[tuple[Any, str]] = []
        self.ahead: list[BaseException] = []

    def __call__(self, values: Any, key: str) -> None:
        """Ring."""
        if self.ahead:
            raise self.ahead.pop(0)
        self.rung.append((values, key))


@pytest.fixture
def bell() -> Bell:
    """A bell that nobody has rung."""
    return Bell()


def ringing(make: Maker, bell: Bell, **changes: Any) -> Task:
    """A task that rings the bell for each of its rows."""
    options = {"each": "id", "backoff": AT_ONCE, **changes}
    return make.task(effects=(call("ring", bell, **options),))


def test_effects_are_made_of_the_committed_snapshot_and_sent_once(
    stage: Stage, make: Maker, bell: Bell
) -> None:
    """Two runs, one ring a row; the second says that it is there already (I1)."""
    stage.engine.committed = [{"id": 1}, {"id": 2}]
    task = ringing(make, bell)
    (first,) = stage.run([task])
    (second,) = stage.run([task])
    assert [values for values, _ in bell.rung] == [{"id": 1}, {"id": 2}]
    assert stage.engine.rows_read == ["s1", "s1"]
    assert first.effects is not None
    assert second.effects is not None
    assert first.effects.words() == "effects: 2 sent"
    assert second.effects.words() == "effects: 2 already there, not sent again"


def test_another_window_is_another_effect(stage: Stage, make: Maker, bell: Bell) -> None:
    """The key holds the window: the same business id on another day rings again."""
    stage.engine.committed = [{"id": 1}]
    stage.run([ringing(make, bell)], Dates(start="2026-04-25", end="2026-04-27"))
    assert len({key for _, key in bell.rung}) == 2


def test_a_write_that_fails_sends_nothing(stage: Stage, make: Maker, bell: Bell) -> None:
    """Nothing is told of rows that no reader can see."""
    stage.engine.committed = [{"id": 1}]
    stage.engine.ahead = [GateFailed("twice", gate="unique", expected="1", found="2")]
    (result,) = stage.run([ringing(make, bell)])
    assert result.state == "failed"
    assert bell.rung == []
    assert stage.ledger.outbox.deliveries() == []


def test_a_task_with_effects_may_retry(stage: Stage, make: Maker, bell: Bell) -> None:
    """Declared effects are guarded by the outbox, so attempts may repeat (F2)."""
    from dataclasses import replace

    stage.engine.committed = [{"id": 1}]
    stage.engine.ahead = [Transient("away"), Transient("away")]
    task = replace(ringing(make, bell), retry=Retry(retries=2, backoff=AT_ONCE))
    (result,) = stage.run([task])
    assert (result.state, result.attempts, len(bell.rung)) == ("succeeded", 3, 1)


def test_scenario_5_died_after_the_commit_before_recording(
    stage: Stage, make: Maker, bell: Bell
) -> None:
    """The next attempt adopts the commit, writes nothing, and still records and sends."""
    task = ringing(make, bell)
    stage.engine.committed = [{"id": 1}]
    start, end = _day(task)
    begun = stage.ledger.begin(
        task.name, start, end, target="t", fingerprint="code-1", pid=1, host="gone"
    )
    stage.engine.commits[begun.run_id] = Outcome(rows=1, snapshot="s0")
    (result,) = stage.run([task])
    assert result.adopted
    assert stage.engine.writes == []
    assert stage.engine.rows_read == ["s0"]
    assert len(bell.rung) == 1


def test_scenario_5_died_after_recording_before_sending(
    stage: Stage, make: Maker, bell: Bell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was recorded and never sent is sent by the task's next run, of whatever window."""
    from setpoint.effects.recording import EffectDesk
    from setpoint.effects.sending import Sent

    stage.engine.committed = [{"id": 1}]
    task = ringing(make, bell)
    with monkeypatch.context() as patch:
        patch.setattr(EffectDesk, "send", lambda *_args: (Sent(), ()))
        stage.run([task])
    assert bell.rung == []
    assert [each.state for each in stage.ledger.outbox.deliveries()] == ["pending"]
    stage.engine.committed = []
    stage.run([task], Dates(ds="2026-04-26"))
    assert len(bell.rung) == 1


def test_an_effect_that_is_unclear_is_held_and_told_of(
    stage: Stage, make: Maker, bell: Bell
) -> None:
    """The data is right and the run succeeded; the warning names the next command."""
    stage.engine.committed = [{"id": 1}]
    bell.ahead = [ValueError("who knows")]
    task = ringing(make, bell)
    (result,) = stage.run([task])
    assert result.state == "succeeded"
    assert any("setpoint effects list --state unknown" in line for line in result.warnings)
    stage.run([task])
    assert bell.rung == []


def test_own_functions_say_that_nothing_was_done(stage: Stage, make: Maker, bell: Bell) -> None:
    """`Transient` is tried again, though no key is honoured."""
    stage.engine.committed = [{"id": 1}]
    bell.ahead = [Transient("busy"), Transient("busy")]
    stage.run([ringing(make, bell)])
    assert len(bell.rung) == 1


def test_skipped_stays_skipped_until_a_run_is_told_to_send(
    stage: Stage, make: Maker, bell: Bell
) -> None:
    """A backfill's skip is recorded; a later run says so, and `send` sends."""
    stage.engine.committed = [{"id": 1}]
    task = ringing(make, bell)
    (skipped,) = stage.run([task], effects="skip")
    assert skipped.effects is not None
    assert skipped.effects.words() == "effects: skipped"
    assert len(stage.ledger.outbox.skips()) == 1
    (plain,) = stage.run([task])
    assert plain.effects is not None
    assert plain.effects.words() == "effects: 1 skipped"
    assert bell.rung == []
    stage.run([task], effects="send")
    assert len(bell.rung) == 1
    assert stage.ledger.outbox.skips() == []


def test_a_runner_that_was_told_nothing_sends_nothing(
    stage: Stage, make: Maker, bell: Bell
) -> None:
    """Trials, verification and backfills run tasks too: only who says so sends."""
    stage.engine.committed = [{"id": 1}]
    plan = make_plan(Graph.of([ringing(make, bell)]), select=(), dates=Dates(ds="2026-04-25"))
    Runner(engine=stage.engine, ledger=stage.ledger).run(plan)
    assert bell.rung == []
    assert stage.engine.rows_read == []


def test_recorded_by_wish_waits_for_the_hand(stage: Stage, make: Maker, bell: Bell) -> None:
    """`record` keeps it for `setpoint effects send`: another window's run does not send it."""
    stage.engine.committed = [{"id": 1}]
    task = ringing(make, bell)
    stage.run([task], effects="record")
    stage.engine.committed = []
    stage.run([task], Dates(ds="2026-04-26"))
    assert bell.rung == []
    assert stage.ledger.outbox.next_due(Selection(by_hand=True)) == (True, None)
    stage.engine.committed = [{"id": 1}]
    stage.run([task])
    assert len(bell.rung) == 1


def test_more_rows_than_the_limit_are_refused(stage: Stage, make: Maker, bell: Bell) -> None:
    """A table that grew by mistake does not become ten thousand mails."""
    stage.engine.committed = [{"id": n} for n in range(4)]
    (result,) = stage.run([ringing(make, bell, limit=3)])
    assert result.state == "failed"
    assert result.error is not None
    assert "more than 3 rows" in result.error.message
    assert bell.rung == []


def test_ctrl_c_while_sending_leaves_it_unknown_and_gives_the_rest_back(
    stage: Stage, make: Maker, bell: Bell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was under way may have arrived; what was not begun is sent by the next run."""
    from setpoint.effects import sending

    stage.engine.committed = [{"id": n} for n in range(3)]
    begun, let_go = threading.Event(), threading.Event()

    def ring(values: Any, key: str) -> None:
        begun.set()
        let_go.wait(30)
        bell(values, key)

    def stopped(*_args: object) -> None:
        begun.wait(30)
        raise KeyboardInterrupt

    task = make.task(effects=(call("ring", ring, each="id"),))
    with monkeypatch.context() as patch:
        patch.setattr(sending._Lane, "_collect", stopped)
        with pytest.raises(KeyboardInterrupt):
            stage.run([task])
    states = sorted(each.state for each in stage.ledger.outbox.deliveries())
    assert states == ["pending", "pending", "unknown"]
    let_go.set()
    stage.run([task])
    assert sorted(values["id"] for values, _ in bell.rung) == [0, 1, 2]


def test_ctrl_c_after_the_answer_keeps_the_answer(
    stage: Stage, make: Maker, bell: Bell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is known to have arrived is marked sent on the way out."""
    from setpoint.effects import sending

    stage.engine.committed = [{"id": n} for n in range(3)]

    def stopped(*_args: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(sending.Dispatcher, "settle", stopped)
        with pytest.raises(KeyboardInterrupt):
            stage.run([ringing(make, bell)])
    states = sorted(each.state for each in stage.ledger.outbox.deliveries())
    assert states == ["pending", "pending", "sent"]


def _day(task: Task) -> tuple[Any, Any]:
    from setpoint.model.plan import task_windows

    windows, _ = task_windows(task, Dates(ds="2026-04-25"))
    assert windows[0] is not None
    return windows[0].start, windows[0].end
