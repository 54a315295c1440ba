from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

import pytest

from setpoint.errors import UsageError
from setpoint.ledger.backfill import SILENT_AFTER, Backfill, Job, Separability, TaskRange

if TYPE_CHECKING:
    from tests.ledger.conftest import Clock, Scene

    from setpoint.ledger.protocol import Ledger

APRIL = datetime(2026, 4, 1, tzinfo=timezone.utc)


def made(
    backfill_id: str = "b1", *, task: str = "orders", key: str = "k1", day: int = 0
) -> Backfill:
    """A backfill of ten days."""
    start = APRIL + timedelta(days=day)
    return Backfill(
        backfill_id=backfill_id,
        request_key=key,
        request={"tasks": [task], "start": "2026-04-01"},
        state="running",
        since=day,
        windows=10,
        requested_by="ann",
        tags={"quarter": "Q2"},
        scopes=(TaskRange(task=task, start=start, end=start + timedelta(days=10)),),
        started_at=APRIL,
        seen_at=APRIL,
        pid=1,
        host="here",
    )


def job(job_id: str = "j1", **changes: object) -> Job:
    """A job of three windows."""
    given = Job(
        job_id=job_id,
        backfill_id="b1",
        task="orders",
        window_start=APRIL,
        window_end=APRIL + timedelta(days=3),
        windows=3,
        fence=1,
        started_at=APRIL,
    )
    return replace(given, **changes)  # type: ignore[arg-type]


def test_a_backfill_is_read_back_as_it_was_written(ledger: Ledger) -> None:
    """Every field, by its id or how it begins, and in the list of the newest."""
    opened = ledger.backfills.open(made())
    assert ledger.backfills.find("b") == opened
    assert ledger.backfills.newest() == [opened]
    assert opened.scopes == made().scopes
    assert opened.tags == {"quarter": "Q2"}
    for wrong in ("nothing", ""):
        with pytest.raises(UsageError, match="No backfill"):
            ledger.backfills.find(wrong)


def test_scenario_18_an_overlapping_backfill_is_refused_with_the_id_of_the_other(
    ledger: Ledger, clock: Clock
) -> None:
    """H6: the same windows of the same task; other tasks and other ranges go on."""
    ledger.backfills.open(made())
    with pytest.raises(UsageError, match="backfill b1") as refusal:
        ledger.backfills.open(made("b2", key="k2", day=9))
    assert "cancel b1" in (refusal.value.next_step or "")
    ledger.backfills.open(made("b3", key="k3", day=10))
    ledger.backfills.open(made("b4", key="k4", task="other"))
    clock.at += SILENT_AFTER  # the first process has died
    ledger.backfills.open(made("b5", key="k5", day=5))


def test_two_processes_with_one_command_are_told_apart(ledger: Ledger) -> None:
    """The second is refused while the first lives."""
    ledger.backfills.open(made())
    with pytest.raises(UsageError, match="backfill b1"):
        ledger.backfills.open(made("b2"))


def test_the_same_command_goes_on_with_the_open_backfill(ledger: Ledger, clock: Clock) -> None:
    """H5: after a crash, a pause or Ctrl-C its id and the fence it began at are kept."""
    ledger.backfills.open(made())
    clock.at += SILENT_AFTER
    again = ledger.backfills.open(replace(made("b2", day=0), since=99, pid=2))
    assert (again.backfill_id, again.since, again.pid) == ("b1", 0, 2)
    ledger.backfills.end("b1", "interrupted")
    assert ledger.backfills.unfinished("k1") is not None
    ledger.backfills.end("b1", "succeeded")
    assert ledger.backfills.unfinished("k1") is None
    assert ledger.backfills.open(made("b6")).backfill_id == "b6"


def test_the_process_hears_what_a_person_wants(ledger: Ledger, clock: Clock) -> None:
    """Pause and cancel reach a living process by its heartbeat, and a dead one's record at once."""
    ledger.backfills.open(made())
    assert ledger.backfills.seen("b1") == "run"
    assert ledger.backfills.wish("b1", "pause").state == "running"
    assert ledger.backfills.seen("b1") == "pause"
    clock.at += SILENT_AFTER
    assert ledger.backfills.wish("b1", "cancel").state == "cancelled"
    with pytest.raises(UsageError, match="has cancelled already"):
        ledger.backfills.wish("b1", "pause")


def test_jobs_are_kept_with_what_they_took(ledger: Ledger) -> None:
    """First as running, then as ended; in the order of their fences, by backfill or by task."""
    ledger.backfills.open(made())
    ledger.backfills.put_job(job("j2", fence=2))
    ledger.backfills.put_job(job())
    done = job(state="succeeded", rows_written=5, seconds=1.5, bytes_read=1 << 40)
    ledger.backfills.put_job(done)
    assert ledger.backfills.jobs("b1") == [done, job("j2", fence=2)]
    assert ledger.backfills.jobs(task="orders") == [done, job("j2", fence=2)]
    assert ledger.backfills.jobs("b9") == []


def test_a_verdict_holds_for_one_code(ledger: Ledger) -> None:
    """Other code is not known; a newer verdict replaces the old one."""
    found = Separability(task="orders", fingerprint="f1", separable=True, evidence="two days")
    ledger.backfills.put_separability(found)
    assert ledger.backfills.separability("orders", "f1") == found
    assert ledger.backfills.separability("orders", "f2") is None
    refuted = replace(found, separable=False)
    ledger.backfills.put_separability(refuted)
    assert ledger.backfills.separability("orders", "f1") == refuted


def test_slots_of_a_pool_are_shared_and_those_of_the_dead_are_free(
    ledger: Ledger, clock: Clock
) -> None:
    """H2: never more than the limit, over all processes."""
    records = ledger.backfills
    assert [records.take_slot("p", 2, holder) for holder in ("a", "b", "c")] == [0, 1, None]
    assert records.take_slot("other", 1, "c") == 0
    records.free_slot("p", 0, "b")  # not its own
    assert records.take_slot("p", 2, "c") is None
    records.free_slot("p", 0, "a")
    assert records.take_slot("p", 2, "c") == 0
    clock.at += SILENT_AFTER
    records.keep_slots("c")
    assert records.take_slot("p", 2, "d") == 1
    assert records.take_slot("p", 2, "e") is None


def test_standings_are_the_latest_runs_in_brief_oldest_first(ledger: Ledger, scene: Scene) -> None:
    """One query for a plan of any size; whole tables and other tasks are not in it."""
    scene.done(scene.day(2))
    scene.broken(scene.day(1))
    scene.done(scene.day(9))
    scene.done(scene.day(2), task="other")
    found = ledger.standings("orders", scene.day(1)[0], scene.day(3)[0])
    assert [(each.window_start[:10], each.state) for each in found] == [
        ("2026-04-01", "failed"),
        ("2026-04-02", "succeeded"),
    ]
    assert found[0].fence > found[1].fence


def test_a_fence_for_a_job_is_higher_than_any_before(ledger: Ledger, scene: Scene) -> None:
    """So that what was set since can be told by it."""
    first = scene.begin().fence
    taken = ledger.take_fence()
    assert first < taken < ledger.take_fence()
