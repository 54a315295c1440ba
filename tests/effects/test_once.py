"""The consumer's side: worked on once, answered alike, in the work's own transaction."""

from __future__ import annotations

import sqlite3
import threading
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from tests.postgres_server import PostgresServer

from setpoint.effects.once import ProcessedEvents, once
from setpoint.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """A Postgres server for this module."""
    server = PostgresServer()
    yield server
    server.close()


@pytest.fixture(params=["sqlite", "postgres"])
def connect(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Any]]:
    """A maker of connections to one database with a table of deposits."""
    opened: list[Any] = []

    def make() -> Any:
        if request.param == "sqlite":
            opened.append(
                sqlite3.connect(tmp_path / "shop.db", timeout=30, check_same_thread=False)
            )
        else:
            server: PostgresServer = request.getfixturevalue("server")
            opened.append(psycopg.connect(server.url, password=server.password, autocommit=True))
        return opened[-1]

    first = make()
    first.execute("DROP TABLE IF EXISTS deposit")
    first.execute("DROP TABLE IF EXISTS processed_events")
    first.execute("CREATE TABLE deposit (amount INTEGER)")
    first.commit()
    ProcessedEvents(first).create()
    yield make
    for connection in opened:
        connection.close()


def deposits(connection: Any) -> int:
    """How many deposits were made."""
    return int(connection.execute("SELECT count(*) FROM deposit").fetchone()[0])


def book(cursor: Any) -> dict[str, Any]:
    """The work: a deposit, answered with a receipt."""
    cursor.execute("INSERT INTO deposit VALUES (5)")
    return {"receipt": 17, "amount": 5}


def test_a_repeat_is_not_worked_on_and_gets_the_first_answer(
    connect: Callable[[], Any],
) -> None:
    """The work is done once; the response of the first call is the response of every call (I3)."""
    connection = connect()
    store = ProcessedEvents(connection)
    answers = [once("evt-1", store)(book) for _ in range(3)]
    assert answers == [{"receipt": 17, "amount": 5}] * 3
    assert deposits(connect()) == 1


def test_work_that_fails_leaves_no_key_behind(connect: Callable[[], Any]) -> None:
    """Key and work are one transaction: after a failure the event may come again."""
    store = ProcessedEvents(connect())

    def break_down(cursor: Any) -> None:
        book(cursor)
        raise ValueError("half way")

    with pytest.raises(ValueError, match="half way"):
        once("evt-1", store)(break_down)
    assert deposits(connect()) == 0
    once("evt-1", store)(book)
    assert deposits(connect()) == 1


def test_two_consumers_at_once_work_once(connect: Callable[[], Any]) -> None:
    """The second waits for the first, and gets its answer."""
    inside, go_on = threading.Event(), threading.Event()
    answers: list[Any] = []

    def slowly(cursor: Any) -> dict[str, Any]:
        inside.set()
        go_on.wait(30)
        return book(cursor)

    def consume(work: Callable[[Any], Any]) -> None:
        answers.append(once("evt-1", ProcessedEvents(connect()))(work))

    first = threading.Thread(target=consume, args=(slowly,))
    first.start()
    inside.wait(30)
    second = threading.Thread(target=consume, args=(book,))
    second.start()
    go_on.set()
    first.join(30)
    second.join(30)
    assert answers == [{"receipt": 17, "amount": 5}] * 2
    assert deposits(connect()) == 1


def test_a_key_may_be_any_object_that_json_holds(connect: Callable[[], Any]) -> None:
    """The same meaning in another order of keys is the same event."""
    store = ProcessedEvents(connect())
    once({"order": 1, "line": 2}, store)(book)
    once({"line": 2, "order": 1.0}, store)(book)
    assert deposits(connect()) == 1
    for nothing in (None, ""):
        with pytest.raises(UsageError):
            once(nothing, store)


def test_inside_a_transaction_of_the_caller_nothing_is_kept_until_it_ends(
    connect: Callable[[], Any],
) -> None:
    """The caller's rollback takes back the work and the key together."""
    connection = connect()
    store = ProcessedEvents(connection)
    connection.execute("BEGIN")
    once("evt-1", store)(book)
    connection.rollback()
    assert deposits(connect()) == 0
    once("evt-1", store)(book)
    assert deposits(connect()) == 1


@pytest.mark.parametrize("table", ["a; DROP TABLE deposit", "a b", "", "1a", 'x"y'])
def test_a_table_with_a_hostile_name_is_refused(table: str) -> None:
    """Names are put into statements, so only plain ones are taken."""
    with pytest.raises(UsageError):
        ProcessedEvents(sqlite3.connect(":memory:"), table=table)
