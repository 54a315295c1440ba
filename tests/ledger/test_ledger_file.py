"""The ledger's file: opened, shared, damaged, too new, not writable."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import threading
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from setpoint.errors import LedgerError
from setpoint.ledger import connection, schema
from setpoint.ledger.opening import open_ledger
from setpoint.ledger.sqlite import SqliteLedger

if TYPE_CHECKING:
    from collections.abc import Iterator

    from setpoint.ledger.protocol import Ledger
    from setpoint.ledger.record import RunState

NOBODY = 65534


def write_one(ledger: Ledger, task: str = "orders") -> None:
    """Begin and end one run on a whole table."""
    started = ledger.begin(
        task, None, None, target="lake.t", fingerprint="f", pid=os.getpid(), host="h"
    )
    ledger.succeed(started.run_id, started.fence, rows=1)


def write_until_full(ledger: Ledger) -> None:
    """Write more runs than a few pages hold."""
    for number in range(200):
        write_one(ledger, f"task_{number}")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A ledger's file with one run in it."""
    with SqliteLedger(tmp_path / "ledger.db") as ledger:
        write_one(ledger)
    return tmp_path / "ledger.db"


@pytest.fixture(params=[0o444, 0o666], ids=["file locked too", "file writable"])
def locked_folder(request: pytest.FixtureRequest) -> Iterator[Path]:
    """A folder with a ledger, in which this process may not write; root becomes nobody."""
    folder = Path(tempfile.mkdtemp())
    with SqliteLedger(folder / "ledger.db") as ledger:
        write_one(ledger)
    (folder / "ledger.db").chmod(request.param)
    folder.chmod(0o555)
    user = os.geteuid()
    if user == 0:
        os.seteuid(NOBODY)
    yield folder
    os.seteuid(user)
    folder.chmod(0o755)
    shutil.rmtree(folder)


def test_a_relative_url_starts_at_the_project(tmp_path: Path) -> None:
    """The file and its folders are made under the root, and are there the next time."""
    with open_ledger("sqlite:///state/of/ledger.db", root=tmp_path, create=True) as ledger:
        write_one(ledger)
    assert (tmp_path / "state" / "of" / "ledger.db").is_file()
    with open_ledger("sqlite:///state/of/ledger.db", root=tmp_path, create=True) as again:
        assert len(again.runs()) == 1


def test_an_absolute_url_ignores_the_project(tmp_path: Path) -> None:
    """Four slashes begin an absolute path; odd characters in it are only characters."""
    odd = tmp_path / "a?b=c#d %41.db"
    with open_ledger(f"sqlite:///{odd}", root=tmp_path / "elsewhere", create=True) as ledger:
        write_one(ledger)
    assert odd.is_file()
    assert not (tmp_path / "elsewhere").exists()


def test_memory_begins_empty_each_time(tmp_path: Path) -> None:
    """`memory:` leaves nothing behind."""
    with open_ledger("memory:", root=tmp_path, create=True) as ledger:
        write_one(ledger)
    assert open_ledger("memory:", root=tmp_path, create=True).runs() == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "url", ["mysql://me:hunter2@db/x", "sqlite://host/x.db", "sqlite:///", "ledger.db", ""]
)
def test_another_url_is_refused_without_showing_its_password(tmp_path: Path, url: str) -> None:
    """The error names what is supported and never repeats what may be secret."""
    with pytest.raises(LedgerError) as refused:
        open_ledger(url, root=tmp_path, create=True)
    assert "sqlite:///" in (refused.value.next_step or "")
    assert "memory:" in (refused.value.next_step or "")
    assert "hunter2" not in refused.value.message + (refused.value.next_step or "")


def test_a_missing_file_reads_as_nothing_has_run_yet(tmp_path: Path) -> None:
    """Reading makes neither file nor folder; an empty file is as good as none."""
    with open_ledger("sqlite:///state/ledger.db", root=tmp_path, create=False) as ledger:
        assert ledger.latest() == []
        with pytest.raises(LedgerError, match="for reading only"):
            write_one(ledger)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "empty.db").touch()
    assert open_ledger("sqlite:///empty.db", root=tmp_path, create=False).runs() == []
    assert (tmp_path / "empty.db").stat().st_size == 0


def test_reading_leaves_the_file_as_it_is(file: Path) -> None:
    """A reader writes nothing, and leaves no file beside the ledger."""
    before = file.read_bytes()
    with open_ledger("sqlite:///ledger.db", root=file.parent, create=False) as ledger:
        assert len(ledger.latest()) == len(ledger.summary()) == 1
        with pytest.raises(LedgerError, match="for reading only"):
            write_one(ledger)
    assert file.read_bytes() == before
    assert list(file.parent.iterdir()) == [file]


def test_a_reader_sees_what_a_writer_does_meanwhile(file: Path) -> None:
    """Neither waits for the other, even inside the writer's transaction."""
    with SqliteLedger(file) as writer, SqliteLedger(file, readonly=True) as reader:
        with writer._transaction():
            assert len(reader.runs()) == 1
        write_one(writer)
        assert len(reader.runs()) == 2


def test_a_ledger_can_be_read_where_it_cannot_be_written(locked_folder: Path) -> None:
    """`status` works in a folder without write permission; a run says what is wrong."""
    with open_ledger("sqlite:///ledger.db", root=locked_folder, create=False) as ledger:
        assert len(ledger.latest()) == 1
    for name in ("ledger.db", "new.db", "sub/new.db"):
        with pytest.raises(LedgerError, match=name) as refused:
            open_ledger(f"sqlite:///{name}", root=locked_folder, create=True)
        assert "written to" in (refused.value.next_step or "")


def test_a_ledger_is_read_alone_when_no_file_can_be_made_beside_it(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer "unable to open" to the usual way of reading leads to the file by itself."""
    usual = connection._connect

    def refuse_beside(path: Path, parameters: str) -> sqlite3.Connection:
        if "immutable" not in parameters:
            monkeypatch.setattr(schema, "version", refuse)
        else:
            monkeypatch.setattr(schema, "version", version)
        return usual(path, parameters)

    version = schema.version

    def refuse(*_: object, **__: object) -> int:
        raise sqlite3.OperationalError("unable to open database file")

    monkeypatch.setattr(connection, "_connect", refuse_beside)
    with SqliteLedger(file, readonly=True) as ledger:
        assert len(ledger.latest()) == 1


def test_a_folder_that_is_a_file_is_told(file: Path) -> None:
    """The path in the error is the ledger's."""
    with pytest.raises(LedgerError, match=r"inside\.db cannot be used"):
        open_ledger("sqlite:///ledger.db/inside.db", root=file.parent, create=True)
    with pytest.raises(LedgerError, match="cannot be opened"):
        open_ledger(f"sqlite:///{file.parent}", root=file.parent, create=False)


@pytest.mark.parametrize("create", [True, False])
def test_a_file_that_is_not_sqlite_is_left_alone(tmp_path: Path, *, create: bool) -> None:
    """The error says which file and what to do; the file stays as it was."""
    path = tmp_path / "ledger.db"
    path.write_text("name,amount\n" * 1000)
    with pytest.raises(LedgerError, match=r"ledger\.db is damaged, or is not") as refused:
        open_ledger("sqlite:///ledger.db", root=tmp_path, create=create)
    assert "Move it away" in (refused.value.next_step or "")
    assert path.read_text() == "name,amount\n" * 1000


def test_a_damaged_ledger_is_told_when_it_is_read(file: Path) -> None:
    """Pages overwritten in the middle of the file become an error with the next step."""
    content = bytearray(file.read_bytes())
    content[4096:] = b"\x55" * (len(content) - 4096)
    file.write_bytes(content)
    with (
        pytest.raises(LedgerError, match="is damaged"),
        open_ledger("sqlite:///ledger.db", root=file.parent, create=False) as ledger,
    ):
        ledger.runs()


@pytest.mark.parametrize("create", [True, False])
def test_the_database_of_another_program_is_left_alone(tmp_path: Path, *, create: bool) -> None:
    """A SQLite file with foreign tables is not made a ledger."""
    path = tmp_path / "app.db"
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE customer (id)")
    before = path.read_bytes()
    with pytest.raises(LedgerError, match="not a Setpoint ledger"):
        open_ledger("sqlite:///app.db", root=tmp_path, create=create)
    assert path.read_bytes() == before


@pytest.mark.parametrize("create", [True, False])
def test_a_newer_ledger_asks_for_an_upgrade(file: Path, *, create: bool) -> None:
    """A file of a later Setpoint is neither read wrongly nor changed."""
    with closing(sqlite3.connect(file)) as later:
        later.execute(f"PRAGMA user_version = {len(schema.SCRIPTS) + 1}")
    before = file.read_bytes()
    with pytest.raises(LedgerError, match="of version") as refused:
        open_ledger("sqlite:///ledger.db", root=file.parent, create=create)
    assert "Upgrade setpoint" in (refused.value.next_step or "")
    assert file.read_bytes() == before


def test_an_older_ledger_moves_forward_and_keeps_its_runs(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A writer brings a version to the next by its script; a reader leaves that to it."""
    script = """
        CREATE TABLE extra (a);
        CREATE TRIGGER taken INSERT ON extra BEGIN
            SELECT 1;
        END;
    """
    newer = (*schema.SCRIPTS, script)
    with closing(sqlite3.connect(file, isolation_level=None)) as held:
        monkeypatch.setattr(schema, "SCRIPTS", newer)
        with pytest.raises(LedgerError, match="older than") as refused:
            SqliteLedger(file, readonly=True)
        assert "setpoint run" in (refused.value.next_step or "")
        schema.migrate(held, file, scripts=newer)
        assert schema.version(held, file, newest=len(newer)) == len(newer)
        held.execute("INSERT INTO extra VALUES (1)")
        assert held.execute("SELECT count(*) FROM run").fetchone() == (1,)


def test_a_migration_that_breaks_off_leaves_the_old_version(file: Path) -> None:
    """A script is carried out whole or not at all."""
    broken = (*schema.SCRIPTS, "CREATE TABLE extra (a);\nINSERT INTO nowhere VALUES (1);\n")
    with closing(sqlite3.connect(file, isolation_level=None)) as held:
        with pytest.raises(sqlite3.OperationalError, match="nowhere"):
            schema.migrate(held, file, scripts=broken)
        assert schema.version(held, file) == len(schema.SCRIPTS)
        assert held.execute("SELECT name FROM sqlite_master WHERE name = 'extra'").fetchall() == []


def test_scenario_10_a_full_disk_is_told_and_harms_nothing(file: Path) -> None:
    """When the ledger cannot grow the caller learns it, the records stay, and a retry works."""
    with SqliteLedger(file) as ledger:
        before = ledger.runs()
        held = ledger._connections.here()
        (pages,) = held.execute("PRAGMA page_count").fetchone()
        held.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(LedgerError, match="the disk is full") as full:
            write_until_full(ledger)
        assert "Free some space" in (full.value.next_step or "")
        assert ledger.runs(limit=None)[-1:] == before
        held.execute("PRAGMA max_page_count = 100000")
        write_one(ledger, "after")
        assert held.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_an_error_that_nobody_foresaw_still_has_path_and_next_step(file: Path) -> None:
    """Whatever SQLite says, the person learns which file and where to look."""
    with pytest.raises(LedgerError, match="no such table") as told, connection.explained(file):
        sqlite3.connect(":memory:").execute("SELECT * FROM nowhere")
    assert str(file) in told.value.message
    assert "doctor" in (told.value.next_step or "")


def test_a_lock_that_is_never_released_is_told(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the wait the error says that another process holds the file."""
    monkeypatch.setattr(connection, "BUSY_SECONDS", 0.05)
    with (
        SqliteLedger(file) as holder,
        SqliteLedger(file) as waiting,
        holder._transaction(),
        pytest.raises(LedgerError, match="kept locked by another process"),
    ):
        write_one(waiting)


def test_a_new_file_held_by_another_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The change to WAL, which SQLite does not wait for itself, is tried until the lock is free."""
    path = tmp_path / "ledger.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as first:
        first.execute("BEGIN IMMEDIATE")
        waits: list[float] = []

        def release(seconds: float) -> None:
            waits.append(seconds)
            first.execute("ROLLBACK")

        monkeypatch.setattr("setpoint.ledger.connection.time.sleep", release)
        monkeypatch.setattr(connection, "BUSY_SECONDS", 0.05)
        with SqliteLedger(path) as ledger:
            write_one(ledger)
    assert len(waits) == 1


def test_every_thread_has_its_own_connection(file: Path) -> None:
    """Threads write through one ledger at once, and ended threads leave no connection open."""
    with SqliteLedger(file) as ledger:
        for _ in range(3):
            threads = [
                threading.Thread(target=write_one, args=(ledger, f"task_{number}"))
                for number in range(4)
            ]
            for each in threads:
                each.start()
            for each in threads:
                each.join()
        assert len(ledger.runs()) == 13
        assert len({run.fence for run in ledger.runs()}) == 13
        last = threading.Thread(target=write_one, args=(ledger,))
        last.start()
        last.join()
        assert len(ledger._connections._open) == 2


@pytest.mark.process
def test_a_forked_process_opens_its_own_connection(file: Path) -> None:
    """Parent and child use one ledger object after a fork, and neither harms the other."""
    with SqliteLedger(file) as ledger:
        inherited = ledger._connections.here()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                write_one(ledger, "child")
                status = 0 if ledger._connections.here() is not inherited else 2
            finally:
                os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        write_one(ledger, "parent")
        assert ledger._connections.here() is inherited
        assert {run.task for run in ledger.runs()} == {"orders", "child", "parent"}


def test_closing_in_a_forked_process_leaves_the_parents_connections(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A child that closes what it inherited closes nothing of the parent's."""
    with SqliteLedger(file) as ledger:
        monkeypatch.setattr(os, "getpid", lambda: -1)
        ledger.close()
        monkeypatch.undo()
        assert ledger._connections._open
        write_one(ledger)
    assert not ledger._connections._open


@pytest.mark.parametrize("task", [None, "orders"])
@pytest.mark.parametrize("state", [None, "failed"])
def test_status_never_sorts_nor_scans_the_table(
    tmp_path: Path, task: str | None, state: RunState | None
) -> None:
    """The latest windows come from an index in their order, however many there are."""
    with SqliteLedger(tmp_path / "plans.db") as ledger:
        said: list[str] = []
        held = ledger._connections.here()
        held.set_trace_callback(said.append)
        ledger.latest(task, state=state)
        ledger.summary()
        held.set_trace_callback(None)
        (first,) = held.execute(f"EXPLAIN QUERY PLAN {said[0]}").fetchall()
        assert first[3].startswith("SEARCH" if task or state else "SCAN"), first[3]
        for query in (each for each in said if each.startswith("SELECT")):
            steps = [row[3] for row in held.execute(f"EXPLAIN QUERY PLAN {query}")]
            assert all("INDEX" in step for step in steps), (query, steps)
