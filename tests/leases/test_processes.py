"""Processes that want the same windows: real ones, stopped and killed for real."""

from __future__ import annotations

import signal
import socket
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from tests.leases.conftest import Yard

from setpoint.ledger.opening import open_ledger

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.postgres_server import PostgresServer

pytestmark = pytest.mark.process
LONG = 600


def agree(yard: Yard) -> None:
    """No lease is left, and each run in the ledger is a commit in the table."""
    with open_ledger(yard.ledger, root=yard.folder, create=False) as ledger:
        assert ledger.leases() == []
        runs = ledger.runs(limit=None)
        assert {run.state for run in runs} == {"succeeded"}
        assert {run.fence for run in runs} <= {fence for _, fence in yard.commits()}


@pytest.mark.parametrize("point", ["lease.after", "ledger.begin.after", "adopt.after"])
def test_scenario_1_killed_before_anything_was_written(yard: Yard, point: str) -> None:
    """Its lease would last ten minutes more; the same command goes on at once and is right."""
    yard.start(yard.day(25), asks=False, seconds=LONG, traps=f"{point}:kill").dies()
    assert yard.commits() == []
    again = yard.start(yard.day(25), asks=False, seconds=LONG, patient=False)
    assert again.ended()["state"] == "succeeded"
    assert [pid for pid, _ in yard.commits()] == [again.pid]
    agree(yard)


def test_scenario_4_killed_after_the_commit_it_is_adopted(yard: Yard) -> None:
    """The ledger never heard of the commit; the same command finds it and writes nothing."""
    dead = yard.start(yard.day(25), asks=False, seconds=LONG, traps="ledger.succeed.before:kill")
    dead.dies()
    assert [pid for pid, _ in yard.commits()] == [dead.pid]
    again = yard.start(yard.day(25), asks=False, seconds=LONG)
    assert again.ended()["state"] == "succeeded"
    assert [pid for pid, _ in yard.commits()] == [dead.pid]
    with open_ledger(yard.ledger, root=yard.folder, create=False) as ledger:
        (run,) = ledger.runs()
        attempts = ledger.attempts(run.run_id)
    assert [each.state for each in attempts] == ["lost", "adopted"]
    assert (run.state, run.snapshot) == ("succeeded", str(attempts[0].fence))


def test_scenario_11_the_second_of_two_commands_waits_and_says_for_whom(yard: Yard) -> None:
    """Both succeed, one after the other; never two at work on one window."""
    first = yard.start(yard.day(25))
    first.until("writing")
    second = yard.start(yard.day(25))
    line = second.until("waits for run")
    assert f"(pid {first.pid} on {socket.gethostname()}, since " in line
    first.go()
    assert first.ended()["state"] == "succeeded"
    assert second.finish()["state"] == "succeeded"
    assert [pid for pid, _ in yard.commits()] == [first.pid, second.pid]
    agree(yard)


def test_scenario_11_the_second_steps_aside_when_it_is_not_to_wait(yard: Yard) -> None:
    """`--no-wait`: refused with the other's name; nothing is written or recorded."""
    first = yard.start(yard.day(25))
    first.until("writing")
    refused = yard.start(yard.day(25), patient=False).ended()
    assert refused["state"] == "failed"
    assert f"pid {first.pid}" in refused["error"]
    first.go()
    assert first.ended()["state"] == "succeeded"
    assert len(yard.commits()) == 1
    agree(yard)


def test_scenario_13_different_windows_go_on_side_by_side(yard: Yard) -> None:
    """Both are at work at the same moment."""
    both = [yard.start(yard.day(number), patient=False) for number in (24, 25)]
    for each in both:
        each.until("writing")
    for each in both:
        each.go()
    assert [each.ended()["state"] for each in both] == ["succeeded", "succeeded"]
    agree(yard)


def test_a_killed_process_is_taken_over_at_once(yard: Yard) -> None:
    """Its lease would last ten minutes more; its process is gone, which is enough."""
    first = yard.start(yard.day(25), seconds=LONG)
    first.until("writing")
    first.kill()
    second = yard.start(yard.day(25), seconds=LONG)
    second.until("takes over from")
    assert second.finish()["state"] == "succeeded"
    agree(yard)


def test_scenario_14_a_stopped_process_wakes_after_the_takeover_and_is_fenced_off(
    yard: Yard,
) -> None:
    """SIGSTOP past its lease; the other takes over and finishes; SIGCONT: it learns who did."""
    first = yard.start(yard.day(25), seconds=1)
    first.until("writing")
    first.send(signal.SIGSTOP)
    second = yard.start(yard.day(25), seconds=1)
    second.until("waits for")
    second.until("takes over from")
    assert second.finish()["state"] == "succeeded"
    first.send(signal.SIGCONT)
    lost = first.ended()
    assert lost["state"] == "failed"
    assert f"process {second.pid} on {socket.gethostname()} took orders over" in lost["error"]
    assert [pid for pid, _ in yard.commits()] == [second.pid]
    agree(yard)


def test_a_process_stopped_for_less_than_its_lease_keeps_it(yard: Yard) -> None:
    """The waiter waits on, and nobody is fenced off."""
    first = yard.start(yard.day(25), seconds=LONG)
    first.until("writing")
    first.send(signal.SIGSTOP)
    second = yard.start(yard.day(25), seconds=LONG)
    second.until("waits for")
    first.send(signal.SIGCONT)
    first.go()
    assert first.ended()["state"] == "succeeded"
    assert second.finish()["state"] == "succeeded"
    agree(yard)


@pytest.mark.parametrize("hours", [-9, 9])
def test_scenario_16_a_clock_wrong_by_hours_takes_nothing_over(yard: Yard, hours: int) -> None:
    """The second machine's clock says that the lease is long over, or not yet begun."""
    first = yard.start(yard.day(25), seconds=LONG, machine="one")
    first.until("writing")
    second = yard.start(yard.day(25), seconds=LONG, machine="two", hours=hours)
    second.until("waits for")
    first.go()
    assert first.ended()["state"] == "succeeded"
    assert second.finish()["state"] == "succeeded"
    fences = [fence for _, fence in yard.commits()]
    assert fences == sorted(fences)
    agree(yard)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param((25, 1), (20, 10), id="17-a-run-meets-a-backfill"),
        pytest.param((20, 10), (25, 1), id="17-a-backfill-meets-a-run"),
        pytest.param((20, 5), (24, 5), id="18-two-backfills-overlap"),
    ],
)
def test_scenario_17_and_18_overlapping_ranges_take_turns(
    yard: Yard, one: tuple[int, int], other: tuple[int, int]
) -> None:
    """A range of windows in one step and a window in it are never at work together."""
    first = yard.start(yard.day(*one))
    first.until("writing")
    second = yard.start(yard.day(*other))
    second.until("waits for")
    first.go()
    assert first.ended()["state"] == "succeeded"
    assert second.finish()["state"] == "succeeded"
    assert [pid for pid, _ in yard.commits()] == [first.pid, second.pid]
    agree(yard)


def test_scenario_17_a_dead_window_inside_a_range_is_taken_over_with_it(yard: Yard) -> None:
    """The dead run ends as abandoned: nobody will ever continue it."""
    first = yard.start(yard.day(25), seconds=LONG)
    first.until("writing")
    first.kill()
    assert yard.start(yard.day(20, 10), seconds=LONG).finish()["state"] == "succeeded"
    with open_ledger(yard.ledger, root=yard.folder, create=False) as ledger:
        newest, abandoned = ledger.runs()
    assert (newest.state, abandoned.state, abandoned.error_kind) == (
        "succeeded",
        "failed",
        "Abandoned",
    )


def test_scenario_22_eight_processes_on_the_same_windows_lose_nothing(yard: Yard) -> None:
    """Each runs the same ten days: eighty commits, in the order of their fences."""
    days = [yard.day(number) for number in range(1, 11)]
    workers = [yard.start(*days, asks=False) for _ in range(8)]
    for worker in workers:
        ends = [line for line in worker.rest() if line.startswith("ended")]
        assert [end for end in ends if "succeeded" not in end] == []
        assert len(ends) == 10
        assert worker.errors() == ""
    assert Counter(pid for pid, _ in yard.commits()) == {each.pid: 10 for each in workers}
    agree(yard)


def test_a_ledger_deleted_in_the_middle_is_noticed_and_the_next_run_is_right(yard: Yard) -> None:
    """The run cannot be recorded and says so; a new ledger goes on above the table's fences."""
    yard.start(yard.day(24)).finish()
    first = yard.start(yard.day(25))
    first.until("writing")
    for file in yard.folder.glob("ledger.db*"):
        file.unlink()
    first.go()
    assert first.process.wait(60) == 1
    assert "was deleted or replaced while it was in use" in first.errors()
    assert yard.start(yard.day(25)).finish()["state"] == "succeeded"
    fences = [fence for _, fence in yard.commits()]
    assert fences == sorted(set(fences))
    agree(yard)


@pytest.fixture
def machines(tmp_path: Path, server: PostgresServer, database: str) -> Iterator[Yard]:
    """Two machines that share nothing but a Postgres ledger."""
    assert server.port
    yard = Yard(tmp_path, database)
    yield yard
    yard.close()


def test_scenario_12_two_machines_take_turns_by_a_postgres_ledger(machines: Yard) -> None:
    """As on one machine: the second waits for the first."""
    first = machines.start(machines.day(25), machine="one")
    first.until("writing")
    second = machines.start(machines.day(25), machine="two")
    second.until("waits for run")
    first.go()
    assert first.ended()["state"] == "succeeded"
    assert second.finish()["state"] == "succeeded"
    assert [pid for pid, _ in machines.commits()] == [first.pid, second.pid]
    agree(machines)


def test_scenario_12_a_machine_that_died_is_taken_over_after_its_lease(machines: Yard) -> None:
    """Its process cannot be seen from here; its silence can."""
    first = machines.start(machines.day(25), machine="one", seconds=1)
    first.until("writing")
    first.kill()
    second = machines.start(machines.day(25), machine="two", seconds=1)
    second.until("waits for run")
    second.until("takes over from")
    assert second.finish()["state"] == "succeeded"
    agree(machines)


def test_scenario_37_a_restart_of_the_ledgers_server_is_survived(
    machines: Yard, server: PostgresServer
) -> None:
    """Connections are cut in the middle of the run, also that of the renewals; it ends well."""
    first = machines.start(machines.day(25), seconds=1)
    first.until("writing")
    server.restart("immediate")
    first.go()
    assert first.ended()["state"] == "succeeded"
    agree(machines)
