"""The ledger in Postgres: made once, moved forward, reached again, and silent about passwords."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from setpoint.errors import LedgerError
from setpoint.ledger import postgres_schema, schema
from setpoint.ledger.opening import open_ledger
from setpoint.ledger.postgres import PostgresLedger

if TYPE_CHECKING:
    from tests.postgres_server import PostgresServer

    from setpoint.ledger.protocol import Ledger

ROOT = Path()
TABLES = "SELECT count(*) FROM pg_tables WHERE schemaname = 'setpoint_ledger'"


def write_one(ledger: Ledger, task: str = "orders") -> int:
    """Record a run."""
    started = ledger.begin(task, None, None, target="t", fingerprint="f", pid=1, host="h")
    return ledger.succeed(started.run_id, started.fence, rows=1).fence


def test_reading_makes_nothing(server: PostgresServer, database: str) -> None:
    """A database without a ledger reads as one in which nothing has run."""
    with open_ledger(database, root=ROOT, create=False) as ledger:
        assert ledger.runs() == []
        with pytest.raises(LedgerError, match="reading only"):
            write_one(ledger)
    assert server.run(TABLES) == [(0,)]


def test_what_was_written_is_there_for_the_next(database: str) -> None:
    """Opened again, to write and to read."""
    with open_ledger(database, root=ROOT, create=True) as ledger:
        first = write_one(ledger)
    with open_ledger(database, root=ROOT, create=True) as ledger:
        assert write_one(ledger) > first
    with open_ledger(database, root=ROOT, create=False) as ledger:
        assert [run.state for run in ledger.runs()] == ["succeeded"] * 2
        with pytest.raises(LedgerError, match="reading only"):
            write_one(ledger)


def open_and_write(url: str, task: str) -> int:
    """In a process of its own: open a ledger that may not be there yet."""
    with open_ledger(url, root=ROOT, create=True) as ledger:
        return write_one(ledger, task)


@pytest.mark.process
def test_scenario_12_processes_that_make_it_at_the_same_moment_make_one(database: str) -> None:
    """Each has its fence, and nobody meets a half-made table."""
    with ProcessPoolExecutor(4, mp_context=multiprocessing.get_context("spawn")) as pool:
        fences = list(pool.map(open_and_write, [database] * 8, "abcdefgh"))
    assert sorted(fences) == list(range(1, 9))


def test_an_older_one_moves_forward_by_the_same_scripts(
    server: PostgresServer, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A writer brings it up to date and its runs stay; a reader leaves that to it."""
    everything = schema.SCRIPTS
    monkeypatch.setattr(schema, "SCRIPTS", everything[:1])
    with PostgresLedger(database) as old:
        write_one(old)
    monkeypatch.setattr(schema, "SCRIPTS", everything)
    with pytest.raises(LedgerError, match="older than this Setpoint's"):
        open_ledger(database, root=ROOT, create=False)
    with open_ledger(database, root=ROOT, create=True) as ledger:
        assert (len(ledger.runs()), ledger.leases()) == (1, [])
    server.run(f"UPDATE {postgres_schema.VERSION} SET scripts = scripts + 1")
    for create in (True, False):
        with pytest.raises(LedgerError, match="knows up to"):
            open_ledger(database, root=ROOT, create=create)


def test_a_script_that_breaks_off_leaves_nothing(
    server: PostgresServer, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All scripts are carried out, or none."""
    broken = (*schema.SCRIPTS, "CREATE TABLE extra (a TEXT);\nINSERT INTO nowhere VALUES (1);\n")
    with monkeypatch.context() as patch:
        patch.setattr(schema, "SCRIPTS", broken)
        with pytest.raises(LedgerError, match="nowhere"):
            PostgresLedger(database)
    assert server.run(TABLES) == [(0,)]
    with PostgresLedger(database) as ledger:
        write_one(ledger)


def test_a_connection_that_the_server_cut_is_opened_again(
    server: PostgresServer, database: str
) -> None:
    """Between two calls: for a reader, a writer and a summary."""
    cut = (
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
        " WHERE application_name = 'setpoint' AND pid <> pg_backend_pid()"
    )
    with PostgresLedger(database) as ledger:
        for call in (lambda: write_one(ledger), ledger.runs, ledger.summary, ledger.leases):
            assert server.run(cut) == [(True,)]
            call()
        assert len(ledger.runs()) == 1


def test_a_lock_that_is_never_released_is_told(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the wait the error says where to look."""
    from setpoint.ledger import postgres_connection

    quick = postgres_connection.SESSION.replace("'30s'", "'50ms'", 1)
    with PostgresLedger(database) as holder, holder._transaction():
        monkeypatch.setattr(postgres_connection, "SESSION", quick)
        with (
            PostgresLedger(database) as waiting,
            pytest.raises(LedgerError, match="kept locked by another process") as told,
        ):
            write_one(waiting)
    assert "pg_stat_activity" in (told.value.next_step or "")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("?password=", "?password=wrong-"), "refuses its user"),
        (("/postgres?", "/nowhere?"), "cannot be used"),
        (("@127.0.0.1:", "@127.0.0.1:1"), "cannot be used"),
        (("postgresql://", "postgresql://%zz"), "not understood"),
    ],
)
def test_scenario_42_no_error_tells_the_password(
    server: PostgresServer, database: str, change: tuple[str, str], words: str
) -> None:
    """Whatever is wrong with the address."""
    wrong = database.replace(*change, 1)
    with pytest.raises(LedgerError, match=words) as told:
        open_ledger(wrong, root=ROOT, create=True)
    for text in (told.value.message, told.value.next_step or "", repr(told.value)):
        assert server.password not in text
        assert database.partition("password=")[2] not in text
