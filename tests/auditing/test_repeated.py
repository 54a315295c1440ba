"""A text that is run again with other literals is read once, and nobody can tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.auditing.asking import audit

from setpoint.auditing.python import repeated
from setpoint.auditing.python.repeated import RepeatedTexts
from setpoint.auditing.sql.reading import read_sql
from setpoint.auditing.sql.writes import Memory

if TYPE_CHECKING:
    from setpoint.auditing.sql.reading import SqlFacts

LOOP = """
import psycopg2
connection = psycopg2.connect("dsn")
cursor = connection.cursor()
for region, part in (("eu", "day"), ("US", "month"), ("eu", "day")):
    cursor.execute(f"DELETE FROM mart.{{table}} WHERE region = '{region}' AND part = '{part}'")
    connection.commit()
    cursor.execute(f"INSERT INTO mart.{{table}} SELECT * FROM raw WHERE region = '{region}'")
    cursor.execute(f"INSERT INTO {region}.sales SELECT * FROM raw WHERE region = '{region}'")
    cursor.execute(f"INSERT INTO mart.clock SELECT * FROM raw WHERE at > CAST('{region}' AS DATE)")
"""


def read(texts: RepeatedTexts, text: str) -> tuple[str, str]:
    """The scope and the filter of the only write of a text."""
    (write,) = texts.read(text, hint="", path="", first_line=1, memory=Memory()).writes
    return write.scope, write.source_filter


def test_literals_take_their_places() -> None:
    """Filters and scopes say what this text says, not what the one before it said."""
    texts = RepeatedTexts()
    delete = "DELETE FROM t WHERE region = '{}' AND kind = '{}'"
    assert read(texts, delete.format("EU", "a")) == ("region = 'eu' and kind = 'a'", "")
    assert read(texts, delete.format("us", "eu")) == ("region = 'us' and kind = 'eu'", "")
    assert read(texts, delete.format("x", "x")) == ("region = 'x' and kind = 'x'", "")
    assert read(texts, delete.format("a", "b")) == ("region = 'a' and kind = 'b'", "")


def test_a_second_text_of_a_shape_is_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three rounds of a loop cost one parse."""
    parsed: list[str] = []

    def counted(text: str, **given: Any) -> SqlFacts:
        parsed.append(text)
        return read_sql(text, **given)

    monkeypatch.setattr(repeated, "read_sql", counted)
    texts = RepeatedTexts()
    for region in ("eu", "us", "apac"):
        read(texts, f"INSERT INTO t SELECT * FROM raw WHERE region = '{region}'")
    assert len(parsed) == 1


@pytest.mark.parametrize("word", ["now", "today", "__h7__"])
def test_a_literal_that_is_more_than_a_word_is_read(word: str) -> None:
    """`'now'` is a clock, and a value that is pasted in has a place of its own."""
    texts = RepeatedTexts()
    statement = "INSERT INTO t SELECT * FROM raw WHERE at > CAST('{}' AS DATE)"
    read(texts, statement.format("x"))
    facts = texts.read(statement.format(word), hint="", path="", first_line=1, memory=Memory())
    assert len(facts.draws) + len(facts.holes) == 1


def test_a_loop_is_judged_as_if_each_round_were_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables, scopes and transactions of each round are its own."""
    quick = audit({"etl/load.py": LOOP})
    monkeypatch.setattr(repeated, "_changed", lambda *_: None)
    whole = audit({"etl/load.py": LOOP})
    assert quick.findings == whole.findings
    assert {one.rule for one in quick.findings} >= {"W01", "W02"}
