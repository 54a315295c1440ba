"""Carrying out a backfill over an engine in memory: pools, pauses, crashes, resumption."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.backfilling.memory_engine import MemoryEngine

from setpoint.backfilling import execution
from setpoint.backfilling.project_backfill import backfill_project, pool_settings
from setpoint.backfilling.request import Request
from setpoint.backfilling.throttle import Throttle
from setpoint.errors import CommitConflict, SourceFault, UsageError
from setpoint.ledger.memory import MemoryLedger
from setpoint.ledger.outbox import Selection
from setpoint.model.graph import Graph
from setpoint.model.pattern import Choice
from setpoint.model.receiver import call
from setpoint.model.settings import ConnectionSettings, PoolSettings, Settings
from setpoint.model.table import TableName
from setpoint.model.task import BoundSource
from setpoint.model.write import merge
from setpoint.project.project import Project

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.task_maker import Maker

    from setpoint.backfilling.plan import BackfillPlan
    from setpoint.backfilling.progress import JobReport, Progress
    from setpoint.backfilling.result import BackfillResult
    from setpoint.model.task import Task
    from setpoint.model.window import Window

SETTINGS = Settings(
    root=Path("/nowhere"),
    name="t",
    pipelines=Path("/nowhere"),
    ledger_url="memory:",
    catalogs={},
    connections={
        "shop": ConnectionSettings(name="shop", url="postgresql://h/d", max_active_runs=1),
        "slow": ConnectionSettings(name="slow", url="postgresql://h/d", runs_per_minute=2),
    },
    pools={
        "night": PoolSettings(name="night", limit=2, scheduler="slow lane"),
        "far": PoolSettings(name="far", limit=2, remote="sc://elsewhere:15002"),
    },
)


class Diary:
    """A listener that writes everything down."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.last: Progress | None = None

    def planned(self, plan: BackfillPlan) -> None:
        """Note the plan."""
        self.lines.append(f"planned {plan.windows}")

    def said(self, message: str) -> None:
        """Note the words."""
        self.lines.append(f"said {message}")

    def began(self, backfill_id: str, plan: BackfillPlan) -> None:
        """Note that jobs begin."""
        assert backfill_id
        self.lines.append(f"began {plan.windows}")

    def reported(self, report: JobReport) -> None:
        """Note the job."""
        self.lines.append(f"{report.task} {report.label} {report.state}")

    def progressed(self, progress: Progress) -> None:
        """Keep the last."""
        self.last = progress

    def over(self) -> None:
        """Note the end."""
        self.lines.append("over")


class Stage:
    """A backfill over memory, with everything that it touches in reach."""

    def __init__(self, *tasks: Task) -> None:
        self.project = Project(settings=SETTINGS, graph=Graph.of(tasks))
        self.engine = MemoryEngine()
        self.ledger = MemoryLedger()
        self.diary = Diary()

    def run(self, *tasks: str, **asked: Any) -> BackfillResult:
        """Back fill ten days of April."""
        given = {
            "tasks": tasks or ("orders",),
            "start": "2026-04-01",
            "end": "2026-04-11",
            **asked,
        }
        return backfill_project(
            self.project,
            Request(**given),
            engine=lambda: self.engine,
            ledger=self.ledger,
            listener=self.diary,
        )


@pytest.fixture
def stage(make: Maker) -> Stage:
    """One daily task."""
    return Stage(make.task())


def test_windows_done_are_counted_and_reported(stage: Stage) -> None:
    """The plan, the jobs, the counts, the end; and every window in the ledger."""
    result = stage.run(batch_size=5)
    assert result.state == "succeeded"
    assert result.count("succeeded") == 10
    assert stage.diary.last is not None
    assert (stage.diary.last.done, stage.diary.last.running) == (10, 0)
    assert "orders 2026-04-01 … 2026-04-05 succeeded" in stage.diary.lines
    assert stage.diary.lines[-1] == "over"
    assert len(stage.ledger.latest("orders")) == 10
    assert stage.ledger.leases() == []


def test_nothing_to_do_starts_nothing(stage: Stage) -> None:
    """The second time the plan is empty, and the engine is not asked for."""
    stage.run()
    result = stage.run()
    assert (result.state, result.backfill_id, stage.engine.started) == ("succeeded", None, 1)


def test_a_batch_that_fails_is_halved_until_the_window_to_blame_is_alone(stage: Stage) -> None:
    """Its error is kept with it; the others are committed."""
    stage.engine.bad = {"2026-04-07"}
    result = stage.run()
    assert result.state == "failed"
    assert [w.window.label for w in result.failed if w.window] == ["2026-04-07"]
    assert len(stage.engine.tables["lake.shop.orders"]) == 9
    failed = stage.ledger.latest("orders", state="failed")
    assert [run.error for run in failed] == ["bad rows in 2026-04-07"]


def test_a_task_that_is_not_separable_runs_in_a_sliding_pool(make: Maker) -> None:
    """One job a window, as many at once as asked for, none waiting for a whole wave."""
    stage = Stage(make.task())
    stage.engine.separable = False
    meet = threading.Barrier(3, timeout=10)
    first: list[str] = []

    def before(windows: Sequence[Window | None]) -> None:
        label = windows[0].label if windows[0] else ""
        if len(first) < 3:
            first.append(label)
            meet.wait()

    stage.engine.before = before
    result = stage.run(max_active_runs=3)
    assert result.state == "succeeded"
    assert stage.engine.most == 3
    assert all(len(labels) == 1 for _, labels in stage.engine.jobs)
    assert any("not separable" in line for line in stage.diary.lines)


def test_the_verdict_is_kept_and_the_next_backfill_does_not_probe(stage: Stage) -> None:
    """By the fingerprint of the task's code."""
    stage.run()
    said = sum("separable?" in line for line in stage.diary.lines)
    stage.run(reprocess="completed")
    assert sum("separable?" in line for line in stage.diary.lines) == said == 1


def test_a_fault_of_the_task_fails_all_its_windows_at_once(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A missing table is found before the first job: no window is tried."""

    def missing(*_given: object) -> None:
        raise SourceFault("the table lake.raw.orders does not exist")

    monkeypatch.setattr(stage.engine, "inspect", missing)
    result = stage.run()
    assert result.count("failed") == 10
    assert stage.engine.jobs == []


def test_what_reads_a_failed_window_is_blocked(make: Maker) -> None:
    """Downstream runs for the nine good days, and says why not for the tenth."""
    stage = Stage(make.task("raw"), make.task("daily", reads=("raw",)))
    stage.engine.bad = {"2026-04-07"}
    result = stage.run("daily", with_upstream=True)
    assert result.count("succeeded") == 18
    (blocked,) = [w for w in result.windows if w.state == "blocked"]
    assert blocked.error == "not run: raw did not succeed"
    daily = [labels for task, labels in stage.engine.jobs if task == "daily"]
    assert [labels[-1] for labels in daily] == ["2026-04-06", "2026-04-10"]


def test_a_conflict_is_tried_again(stage: Stage) -> None:
    """A scheduled run or a compaction came in between; setting the windows again is harmless."""
    faults: list[BaseException] = [CommitConflict("somebody else"), CommitConflict("again")]

    def before(_windows: object) -> None:
        if faults:
            raise faults.pop()

    stage.engine.before = before
    assert stage.run().state == "succeeded"
    states = [job.state for job in stage.ledger.backfills.jobs()]
    assert states == ["failed", "failed", "succeeded"]


def test_scenario_14_a_job_that_lost_its_lease_records_nothing(stage: Stage) -> None:
    """Another process took its windows over meanwhile: theirs is the record, and it says so."""

    def take_over() -> None:
        for lease in stage.ledger.leases():
            stage.ledger.release(lease)

    stage.engine.after = take_over
    result = stage.run()
    assert result.count("failed") == 10
    assert stage.ledger.latest("orders") == []
    assert [job.state for job in stage.ledger.backfills.jobs()] == ["lost"]


class Killed(BaseException):
    """Stands for a process that is gone."""


def test_scenario_4_a_commit_that_the_ledger_never_heard_of_is_adopted(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed between commit and ledger: the same command finds the commit and writes nothing."""

    def die(*_given: object, **_more: object) -> None:
        raise Killed

    monkeypatch.setattr(stage.ledger, "record_many", die)
    monkeypatch.setattr(stage.ledger.backfills, "end", lambda *_given: None)
    monkeypatch.setattr("setpoint.backfilling.job.BatchRun._put", lambda _self, _job, _state: None)
    with pytest.raises(Killed):
        stage.run()
    monkeypatch.undo()
    assert stage.ledger.latest("orders") == []
    stage.ledger.backfills.end(stage.ledger.backfills.newest()[0].backfill_id, "interrupted")
    jobs = len(stage.engine.jobs)
    result = stage.run()
    assert result.state == "succeeded"
    assert len(stage.engine.jobs) == jobs
    assert {run.detail.get("adopted") for run in stage.ledger.latest("orders")} == {True}


def test_the_same_command_goes_on_with_what_is_missing(stage: Stage) -> None:
    """Stopped after some jobs: done windows are left, also with --reprocess-behavior completed."""
    stage.run()
    calls = 0

    def before(_windows: object) -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise Killed

    stage.engine.before = before
    asked = {"reprocess": "completed", "batch_size": 2, "max_active_runs": 1}
    with pytest.raises(Killed):
        stage.run(**asked)
    (stopped,) = [b for b in stage.ledger.backfills.newest() if b.state == "interrupted"]
    done = len(stage.engine.jobs)
    result = stage.run(**asked)
    assert (result.state, result.backfill_id) == ("succeeded", stopped.backfill_id)
    assert len(stage.engine.jobs) - done == 3
    again = stage.run(**asked)
    assert again.backfill_id != stopped.backfill_id


@pytest.mark.parametrize(("wish", "state"), [("pause", "paused"), ("cancel", "cancelled")])
def test_a_person_can_pause_or_cancel(
    stage: Stage, wish: Any, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job that runs comes to its end, and no more begin."""
    monkeypatch.setattr(execution, "BEAT_SECONDS", 0.0)

    def before(_windows: object) -> None:
        (record,) = stage.ledger.backfills.newest()
        if record.wish == "run":
            stage.ledger.backfills.wish(record.backfill_id, wish)

    stage.engine.before = before
    result = stage.run(batch_size=2, max_active_runs=1)
    assert result.state == state
    assert 0 < result.count("succeeded") < 10
    stage.engine.before = lambda _windows: None
    after = stage.run(batch_size=2)
    assert (after.backfill_id == result.backfill_id) == (state == "paused")
    assert result.count("succeeded") + after.count("succeeded") == 10


def test_scenario_18_two_backfills_over_the_same_windows_are_told_apart(stage: Stage) -> None:
    """H6: the later one is refused with the id of the other while that one lives."""
    refusals: list[UsageError] = []

    def before(_windows: object) -> None:
        with pytest.raises(UsageError) as refused:
            stage.run(start="2026-04-05", end="2026-04-20", reprocess="completed")
        refusals.append(refused.value)

    stage.engine.before = before
    result = stage.run()
    assert result.state == "succeeded"
    assert str(result.backfill_id) in refusals[0].message


def test_merges_of_one_table_take_turns(make: Maker) -> None:
    """They would only conflict with each other."""
    stage = Stage(make.task(choice=Choice(write=merge("id"), reason="stated")))
    assert stage.run(max_active_runs=4).state == "succeeded"
    assert stage.engine.most == 1


@pytest.mark.parametrize(
    ("asked", "told", "waiting"),
    [({}, 0, 0), ({"effects": "send"}, 10, 0), ({"effects": "record"}, 0, 10)],
)
def test_nobody_outside_is_told_of_old_days_unless_asked(
    make: Maker, asked: dict[str, Any], told: int, waiting: int
) -> None:
    """I2: skipped by default; `--effects send` tells each window once, `record` keeps it."""
    heard: list[str] = []
    ring = call("ring", lambda _values, key: heard.append(key), each="id")
    stage = Stage(make.task(effects=(ring,)))
    assert stage.run(**asked).count("succeeded") == 10
    assert (len(heard), len(set(heard))) == (told, told)
    chosen = Selection(by_hand=True)
    assert len(stage.ledger.outbox.due(chosen, limit=50)) == waiting


@pytest.mark.parametrize("asked", [{"effects": "shout"}, {"effects": "send", "shadow": True}])
def test_effects_that_make_no_sense_are_refused(stage: Stage, asked: dict[str, Any]) -> None:
    """An unknown word, and messages about rows that no reader sees."""
    with pytest.raises(UsageError, match=r"--effects|--shadow"):
        stage.run(**asked)


def test_a_pool_admits_no_more_than_its_limit_over_all_processes() -> None:
    """H2: two throttles on one ledger, as two processes have; a third job waits for a slot."""
    ledger = MemoryLedger()
    one, other = (
        Throttle(ledger.backfills, SETTINGS, pool="night", holder=name) for name in ("a", "b")
    )
    task = _reading(())
    assert [one.admit(task), other.admit(task), one.admit(task), other.admit(task)] == [
        True,
        True,
        False,
        False,
    ]
    one.release(task)
    assert other.admit(task)
    other.close()
    assert one.admit(task)


def test_a_source_connection_has_limits_of_its_own() -> None:
    """H2: so many runs at once, and so many a minute; a job that gets no room takes none."""
    ledger = MemoryLedger()
    now = [0.0]
    throttle = Throttle(ledger.backfills, SETTINGS, pool="night", holder="a", clock=lambda: now[0])
    shop, slow = _reading(("shop",)), _reading(("slow",))
    assert throttle.admit(shop)
    assert not throttle.admit(shop)
    throttle.release(shop)
    assert [throttle.admit(slow) for _ in range(2)] == [True, True]
    throttle.release(slow)
    throttle.release(slow)
    assert not throttle.admit(slow)
    now[0] = 60.0
    assert throttle.admit(slow)


def test_an_unknown_pool_is_refused(stage: Stage) -> None:
    """With those that there are."""
    with pytest.raises(UsageError, match="no pool is called 'day'") as refusal:
        stage.run(pool="day")
    assert "far, night" in (refusal.value.next_step or "")


def test_a_pool_without_room_is_waited_for(stage: Stage) -> None:
    """Two slots are taken elsewhere; when one is free the job begins."""
    records = stage.ledger.backfills
    for holder in ("x", "y"):
        records.take_slot("pool night", 2, holder)
    waited = threading.Event()

    def free() -> None:
        waited.set()
        records.free_slot("pool night", 0, "x")

    freed = threading.Timer(0.3, free)
    stage.engine.before = lambda _windows: assert_set(waited)
    freed.start()
    assert stage.run(pool="night").state == "succeeded"
    assert records.take_slot("pool night", 2, "z") == 0


def test_a_pool_can_have_a_scheduler_or_a_spark_of_its_own(stage: Stage) -> None:
    """H2: its jobs run in that pool of Spark's scheduler, or on that server."""
    stage.run(pool="night")
    assert set(stage.engine.schedulers) == {"slow lane"}
    assert pool_settings(SETTINGS, "far").spark.remote == "sc://elsewhere:15002"
    assert pool_settings(SETTINGS, "night") is SETTINGS
    assert pool_settings(SETTINGS, None) is SETTINGS


def test_shadows_of_a_graph_read_each_other_and_not_the_old_rows(make: Maker) -> None:
    """H3: both tasks are written aside, downstream from the shadow of upstream."""
    stage = Stage(make.task("raw"), make.task("daily", reads=("raw",)))
    result = stage.run("daily", with_upstream=True, shadow=True)
    assert result.state == "succeeded"
    aside = f"__shadow_{result.backfill_id}"
    assert set(stage.engine.tables) == {f"lake.shop.raw{aside}", f"lake.shop.daily{aside}"}
    (source,) = result.plan.tasks[1].task.sources
    assert str(source.table) == f"lake.shop.raw{aside}"
    assert stage.ledger.latest("daily") == []


def test_what_cannot_be_written_aside_is_refused(make: Maker) -> None:
    """A merge owns no window; a lookup's shadow would hold the range alone."""
    merged = make.task(choice=Choice(write=merge("id"), reason="stated"))
    with pytest.raises(UsageError, match="cannot be written aside"):
        Stage(merged).run(shadow=True)
    daily = make.task("daily", reads=("raw",))
    static = replace(daily, sources=tuple(replace(s, event_time=None) for s in daily.sources))
    with pytest.raises(UsageError, match=r"reads lake\.shop\.raw whole"):
        Stage(make.task("raw"), static).run("daily", with_upstream=True, shadow=True)


def _reading(connections: Sequence[str]) -> Task:
    from tests.task_maker import Maker

    sources = tuple(
        BoundSource(name=name, table=TableName((name, "s", "t")), event_time="at")
        for name in connections
    )
    return Maker().task(sources=sources)


def assert_set(event: threading.Event) -> None:
    """The event has happened."""
    assert event.is_set()


def test_progress_is_shown_while_a_job_runs(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each beat moves the clock, also when no job has ended."""
    monkeypatch.setattr(execution, "BEAT_SECONDS", 0.05)
    seen: list[int] = []
    going = threading.Event()

    def before(_windows: object) -> None:
        going.wait(5)

    def progressed(progress: Progress) -> None:
        seen.append(progress.running)
        if len(seen) == 3:
            going.set()

    monkeypatch.setattr(stage.diary, "progressed", progressed)
    stage.engine.before = before
    assert stage.run().state == "succeeded"
    assert seen[:3] == [10, 10, 10]
    assert timedelta(seconds=execution.BEAT_SECONDS) < timedelta(seconds=1)
