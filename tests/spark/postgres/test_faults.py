"""Restarts, deaths and rivals: a clear error, and a retry that is right."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import adbc_driver_manager.dbapi
import psycopg
import pytest

from setpoint.engine.commit_mark import scope_name
from setpoint.engine.protocol import Token
from setpoint.engine.spark.postgres import copying, staging, statements
from setpoint.engine.spark.postgres import target as target_module
from setpoint.engine.spark.postgres.target import PostgresTarget
from setpoint.errors import CommitConflict, RunError, Transient
from setpoint.model.plan import Dates, make_plan
from setpoint.project.project import load_project

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.spark.postgres.conftest import Mart

    from setpoint.engine.spark.engine import SparkEngine

pytestmark = pytest.mark.spark
PATIENCE = 60
MANY = 1_500_000
WIDE = f"""
@task(target="mart.public.numbers", grain="day", write=replace(by="day"), retries=3)
def numbers(spark, window):
    return spark.sql(f"SELECT id, id * 7 AS seven, repeat('x', 20) AS pad, "
                     f"DATE '{{window.ds}}' AS day FROM range(0, {MANY}, 1, 4)")
"""


def _wait(condition: Callable[[], object]) -> None:
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.005)


@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_scenario_37_the_server_is_restarted_in_the_middle_of_a_copy(
    mart: Mart, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    """The copy is cut off: said so, tried again, and right."""
    monkeypatch.setattr(copying, "SMALL_BYTES", -1)
    mart.python(WIDE)
    with mart.connect() as watcher:

        def copying_now() -> object:
            return watcher.execute(
                "SELECT 1 FROM pg_stat_progress_copy WHERE bytes_processed > 1000000"
            ).fetchone()

        def meddle() -> None:
            _wait(copying_now)
            mart.server.restart(mode)

        thread = threading.Thread(target=meddle)
        thread.start()
        result = mart.ok("2026-04-25")[0]
        thread.join()
    assert result.attempts > 1
    attempts = mart.ledger.attempts(str(result.run_id))
    assert attempts[0].error_kind == Transient.__name__
    assert "connection to Postgres (mart) was lost" in str(attempts[0].error)
    assert mart.pg("SELECT count(*), count(DISTINCT id) FROM numbers") == [(MANY, MANY)]
    assert mart.staging() == []


RETRIED = """
@task(target="mart.public.daily", grain="day", write=replace(by="order_date"), retries=3,
      sources={"raw": Source("lake.raw.orders", event_time="ordered_at")})
def daily(raw):
    return raw.withColumn("order_date", F.to_date("ordered_at"))
"""


@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_scenario_37_the_server_is_restarted_in_the_transaction(
    shop: Mart, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    """What the transaction did is undone; the retry sets the scope."""
    shop.python(RETRIED)
    shop.ok("2026-04-25")
    original = PostgresTarget._record
    calls: list[int] = []

    def restarting(self: PostgresTarget, *arguments: Any) -> Any:
        calls.append(1)
        if len(calls) == 1:
            shop.server.restart(mode)
        return original(self, *arguments)

    monkeypatch.setattr(PostgresTarget, "_record", restarting)
    result = shop.ok("2026-04-25")[0]
    assert (result.attempts, result.rows, result.replaced) == (2, 144, 144)
    assert shop.pg("SELECT count(*), count(DISTINCT order_id) FROM daily") == [(144, 144)]
    assert shop.staging() == []


def test_scenario_37_a_crash_between_copy_and_transaction_is_noticed(
    shop: Mart, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a crash an unlogged table is empty; the counts tell, and the retry is right."""
    monkeypatch.setattr(copying, "SMALL_BYTES", -1)
    shop.python(RETRIED)
    original = copying.copy
    calls: list[int] = []

    def crashing(*arguments: Any) -> object:
        copied = original(*arguments)
        calls.append(1)
        if len(calls) == 1:
            shop.server.restart("immediate")
        return copied

    monkeypatch.setattr(target_module, "copy", crashing)
    result = shop.ok("2026-04-25")[0]
    assert (result.attempts, result.rows) == (2, 144)
    first = shop.ledger.attempts(str(result.run_id))[0]
    assert "144 rows were copied and 0 are there" in str(first.error)
    assert shop.pg("SELECT count(*) FROM daily") == [(144,)]


@pytest.mark.usefixtures("path")
def test_scenario_9_a_commit_whose_answer_was_lost_is_looked_up(
    shop: Mart, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The transaction took place and the client never heard: found, and not done again."""
    shop.python(RETRIED)
    _lose_answers(monkeypatch, after=True)
    result = shop.ok("2026-04-25")[0]
    assert (result.attempts, result.rows) == (1, 144)
    assert shop.pg("SELECT count(*) FROM setpoint.commits") == [(1,)]


@pytest.mark.usefixtures("path")
def test_scenario_9_a_commit_that_never_arrived_is_not_guessed(
    shop: Mart, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection was cut before COMMIT: looked up, not there, tried again."""
    shop.python(RETRIED)
    _lose_answers(monkeypatch, after=False)
    result = shop.ok("2026-04-25")[0]
    assert (result.attempts, result.rows) == (2, 144)
    assert shop.pg("SELECT count(*) FROM daily") == [(144,)]


def _lose_answers(monkeypatch: pytest.MonkeyPatch, *, after: bool) -> None:
    """Cut the connection once, just after or just before the commit that records a fence."""
    recorded: list[int] = []
    record = PostgresTarget._record

    def noting(self: PostgresTarget, *arguments: Any) -> Any:
        recorded.append(1)
        return record(self, *arguments)

    def losing(connections: Any, lost_error: Callable[[str], Exception]) -> None:
        commit = connections.commit

        def lose(self: Any) -> None:
            lost = recorded == [1]
            if after or not lost:
                commit(self)
            if lost:
                recorded.append(0)
                self.close()
                raise lost_error("server closed the connection unexpectedly")

        monkeypatch.setattr(connections, "commit", lose)

    monkeypatch.setattr(PostgresTarget, "_record", noting)
    losing(psycopg.Connection, psycopg.OperationalError)
    losing(
        adbc_driver_manager.dbapi.Connection,
        lambda text: adbc_driver_manager.OperationalError(text, status_code=10),
    )


def test_scenario_12_two_at_once_on_one_scope_never_double_it(
    shop: Mart, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a key to stop them, the lock alone keeps the scope single; one steps aside."""
    shop.python(RETRIED)
    step = make_plan(load_project(shop.root).graph, select=(), dates=Dates(ds="2026-04-25")).steps[
        0
    ]
    shop.ok("2026-04-25")
    engines = [shop.engine, shop.new_engine()]
    # Once each beforehand: the look for hidden clocks moves the clock of the whole process.
    for fence, engine in enumerate(engines, 50):
        engine.carry_out(step.task, step.window, Token(run_id="before", fence=fence))
    for number in range(4):
        meeting = threading.Barrier(2, timeout=PATIENCE)
        original = PostgresTarget._transact

        def together(
            self: PostgresTarget,
            *arguments: Any,
            meeting: threading.Barrier = meeting,
            original: Any = original,
        ) -> None:
            meeting.wait()
            original(self, *arguments)

        outcomes: list[str] = []

        def carry_out(engine: SparkEngine, fence: int, outcomes: list[str] = outcomes) -> None:
            try:
                engine.carry_out(step.task, step.window, Token(run_id=f"r{fence}", fence=fence))
                outcomes.append("committed")
            except CommitConflict:
                outcomes.append("refused")

        with monkeypatch.context() as patch:
            patch.setattr(PostgresTarget, "_transact", together)
            # As if neither had seen the other's staging table when it began.
            patch.setattr(staging, "drop_orphans", lambda *_arguments: None)
            threads = [
                threading.Thread(target=carry_out, args=(engine, 100 + 2 * number + place))
                for place, engine in enumerate(engines)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert sorted(outcomes) == ["committed", "refused"]
        assert shop.pg("SELECT count(*), count(DISTINCT order_id) FROM daily") == [(144, 144)]


DYING = """
import itertools, os, sys
import pyarrow as pa
from setpoint.engine.spark.postgres.connection import Login
from setpoint.engine.spark.postgres.copying import _copier
from setpoint.engine.spark.postgres.staging import prepare, staged
from setpoint.engine.spark.postgres.statements import STAGING
from setpoint.model.settings import ConnectionSettings
settings = ConnectionSettings(name="mart", url=sys.argv[1], password=os.environ["MART_PASSWORD"])
batch = pa.RecordBatch.from_pydict({"c0": list(range(10_000))})
scope = {"target": sys.argv[2], "scope": sys.argv[3], "fence": 0}
prepare(Login.of(settings), **scope)
with staged(Login.of(settings), **scope, types=["bigint"]) as staging:
    copier = _copier(staging.login.text, staging.name, STAGING, "mark")
    list(copier(itertools.repeat(batch)))
"""


def test_who_was_taken_over_during_its_copy_is_told(
    shop: Mart, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scenario 14: a newer attempt drops what an older one staged; the older one steps aside."""
    step = make_plan(load_project(shop.root).graph, select=(), dates=Dates(ds="2026-04-25")).steps[
        0
    ]
    monkeypatch.setattr(copying, "SMALL_BYTES", -1)
    original = copying.copy
    calls: list[int] = []

    def overtaken(*arguments: Any) -> object:
        calls.append(1)
        if len(calls) == 1:
            shop.engine.carry_out(step.task, step.window, Token(run_id="new", fence=9))
        return original(*arguments)

    monkeypatch.setattr(target_module, "copy", overtaken)
    with pytest.raises(CommitConflict, match="newer attempt"):
        shop.engine.carry_out(step.task, step.window, Token(run_id="old", fence=8))
    assert shop.pg("SELECT run_id FROM setpoint.commits") == [("new",)]
    assert shop.staging() == []


def test_scenario_14_a_client_that_stopped_in_the_middle_of_its_copy_is_cut_off(
    shop: Mart, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It holds the scope's lock, and no timeout reaches it; another day's copy is left alone."""
    step = make_plan(load_project(shop.root).graph, select=(), dates=Dates(ds="2026-04-25")).steps[
        0
    ]
    shop.ok("2026-04-25")
    monkeypatch.setattr(statements, "STALLED_SECONDS", 0)
    monkeypatch.setattr(target_module, "SILENCE_SECONDS", 0.1)
    kept: list[psycopg.Connection[Any]] = []
    sessions = []
    for label in (scope_name(step.window), "another day"):
        session = psycopg.connect(shop.url, password=shop.server.password)
        session.execute(statements.lock_sql('"public"."daily"', label).encode())
        session.pgconn.send_query(b"COPY daily FROM STDIN")
        sessions.append(session.info.backend_pid)
        kept.append(session)
    with shop.connect() as watcher:
        copies = "SELECT pid FROM pg_stat_progress_copy ORDER BY pid"
        _wait(lambda: len(watcher.execute(copies).fetchall()) == len(sessions))
        assert shop.ok("2026-04-25")[0].rows == 12
        assert watcher.execute(copies).fetchall() == [(sessions[1],)]
    for session in kept:
        session.pgconn.finish()


def test_a_client_killed_in_its_copy_leaves_nothing_that_lasts(shop: Mart) -> None:
    """Its staging table is an orphan, which the next attempt on the scope drops."""
    step = make_plan(load_project(shop.root).graph, select=(), dates=Dates(ds="2026-04-25")).steps[
        0
    ]
    arguments = [shop.url, '"public"."daily"', scope_name(step.window)]
    dying = subprocess.Popen([sys.executable, "-c", DYING, *arguments], env=dict(os.environ))
    with shop.connect() as watcher:
        _wait(lambda: watcher.execute("SELECT 1 FROM pg_stat_progress_copy").fetchone())
    dying.send_signal(signal.SIGKILL)
    dying.wait()
    assert len(shop.staging()) == 1
    assert shop.ok("2026-04-25")[0].rows == 12
    assert shop.staging() == []


def test_an_unreachable_server_is_a_clear_error(
    shop: Mart, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody listens: a transient error that names the connection, without a stack."""
    path = shop.root / "setpoint.toml"
    path.write_text(path.read_text().replace(f":{shop.server.port}/", ":1/"))
    shop.engine = shop.new_engine()
    error = shop.error("2026-04-25")
    assert isinstance(error, Transient)
    assert "mart" in error.message
    path.write_text(path.read_text().replace(":1/", f":{shop.server.port}/"))
    monkeypatch.setenv("MART_PASSWORD", "wrong-one")
    shop.engine = shop.new_engine()
    error = shop.error("2026-04-25")
    assert isinstance(error, RunError)
    assert not error.transient
    assert "user and password" in error.message
    assert "wrong-one" not in str(vars(error))
