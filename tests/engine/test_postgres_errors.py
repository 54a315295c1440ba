"""Postgres's errors in Setpoint's words, without a database."""

from __future__ import annotations

import pytest

from setpoint.engine.spark.postgres.connection import Login
from setpoint.engine.spark.postgres.copying import parse_estimate
from setpoint.engine.spark.postgres.translation import translate, translate_marked
from setpoint.errors import (
    CommitConflict,
    EngineFailed,
    GateFailed,
    ResultMisshapen,
    RunError,
    StorageFull,
    Transient,
    UsageError,
)
from setpoint.model.settings import ConnectionSettings


@pytest.mark.parametrize(
    ("state", "text", "kind"),
    [
        ("57P01", "FATAL: terminating connection due to administrator command", Transient),
        ("08006", "connection failure", Transient),
        (None, "connection to server at x failed: Connection refused", Transient),
        (None, "FATAL: the database system is starting up", Transient),
        (None, 'FATAL: password authentication failed for user "u"', EngineFailed),
        ("40P01", "ERROR: deadlock detected", CommitConflict),
        ("55P03", "ERROR: canceling statement due to lock timeout", CommitConflict),
        ("53100", "ERROR: could not extend file", StorageFull),
        ("22003", "ERROR: integer out of range", ResultMisshapen),
        ("23514", "ERROR: violates check constraint", ResultMisshapen),
        ("42501", "ERROR: permission denied for database d", EngineFailed),
        ("42P01", "ERROR: relation does not exist", EngineFailed),
        ("42P01", 'ERROR: relation "setpoint_staging.s_1" does not exist', CommitConflict),
        (None, 'ERROR: relation "setpoint_staging.s_1" does not exist', CommitConflict),
        (None, "IO: it failed. SQLSTATE: 57P02", Transient),
    ],
)
def test_errors_by_their_code(state: str | None, text: str, kind: type[RunError]) -> None:
    """What passes by itself is transient; what does not says what to do."""
    error = translate(state, text, place="mart")
    assert type(error) is kind
    assert error.next_step


def test_a_key_that_is_taken_is_shown() -> None:
    """The sample key is taken from the server's own words."""
    text = "ERROR: duplicate key\nDETAIL:  Key (id, day)=(7, 2026-04-25) already exists."
    error = translate("23505", text, place="mart")
    assert isinstance(error, GateFailed)
    assert error.samples == ("id, day=7, 2026-04-25",)


def test_the_error_of_a_worker_is_found_in_its_stack() -> None:
    """Between the JVM's lines stands what the worker said."""
    stack = (
        "Job aborted: Traceback (most recent call last):\n  File x\n"
        "RuntimeError: setpoint-postgres [22P02] ERROR: invalid input\n\n\tat org.apache.spark"
    )
    error = translate_marked(stack, place="mart")
    assert isinstance(error, ResultMisshapen)
    assert "invalid input" in error.message
    assert "apache" not in error.message
    assert translate_marked("something else", place="mart") is None


def test_a_password_is_never_shown() -> None:
    """Scenario 42: not in a repr, nor in a text, plain or percent-encoded."""
    settings = ConnectionSettings(
        name="mart", url="postgresql://u:p%40ss%2Fw@host:5433/db?sslmode=require"
    )
    login = Login.of(settings)
    assert login.parameters["password"] == "p@ss/w"
    texts = [repr(settings), repr(login), login.jdbc_url]
    texts += map(login.redacted, ("x p@ss/w y", "p%40ss%2Fw", "password='p@ss/w'", login.text))
    for text in texts:
        assert "p@ss/w" not in text
        assert "p%40ss" not in text
    assert login.jdbc_url == "jdbc:postgresql://host:5433/db"
    assert login.jdbc_properties["sslmode"] == "require"


def test_a_url_that_is_not_understood_is_not_repeated() -> None:
    """Its password may be what makes it unreadable."""
    with pytest.raises(UsageError) as caught:
        Login.of(ConnectionSettings(name="mart", url="postgresql://u:50%secret@h/db"))
    assert "secret" not in caught.value.message


def test_the_estimate_of_a_plan() -> None:
    """Small results travel through the driver; an unknown size counts as endless."""
    plan = "== Optimized ==\nProject [a], Statistics(sizeInBytes=2.5 MiB, rowCount=1.0E+3)\n+- Rel"
    assert parse_estimate(plan) == 2.5 * (1 << 20)
    assert parse_estimate("Statistics(sizeInBytes=8.0 EiB)") == 8.0 * (1 << 60)
    assert parse_estimate("nothing") == float("inf")
