"""The likely cause of a difference, from values, plan and code."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest

from setpoint.model.hidden_input import HiddenInputFound
from setpoint.verifying.cause import FIXES, SUITED, WORDS, Clue, likely_cause
from setpoint.verifying.check import CHECKS, chosen_checks
from setpoint.verifying.code_reading import read_python, read_sql
from setpoint.verifying.difference import compare_table
from setpoint.verifying.plan_clues import plan_clues
from setpoint.verifying.rows import Rows

NOW = datetime(2026, 4, 26, 12, 0, tzinfo=timezone.utc)
UUIDS = ("5f0c2a4e-9d53-4f3c-8a52-0d5b7a3a1c11", "0b7a9f2e-33c1-4c0e-9e0f-6a1d2f4b5c77")


def difference(before: Any, after: Any) -> Any:
    """One row whose value changed."""
    columns = ("id", "value")
    return compare_table("t", Rows.of(columns, [(1, before)]), Rows.of(columns, [(1, after)]))


@pytest.mark.parametrize(
    ("check", "before", "after", "kind"),
    [
        ("two", *UUIDS, "uuid"),
        ("two", "2026-04-26T11:59:00+00:00", "2026-04-26T12:00:00+00:00", "clock"),
        ("two", NOW, NOW.replace(minute=1), "clock"),
        ("partitioning", 0.1 + 0.2, 0.3, "float"),
        ("partitioning", "a,b,c", "c,a,b", "row order"),
        ("partitioning", (1, 2), (2, 1), "row order"),
        ("two", 5, 10, "counter"),
        ("two", "a", "b", "unknown"),
        ("clock", "a", "b", "clock"),
        ("environment", "a", "b", "environment"),
        ("partitioning", "a", "b", "row order"),
        ("neighbours", "a", "b", "scope"),
    ],
)
def test_values_alone_tell_a_cause(check: str, before: Any, after: Any, kind: str) -> None:
    """A column of UUIDs, of moments close to now, of floats that nearly agree."""
    found = likely_cause(check, difference(before, after), now=NOW)
    assert found.kind == kind
    assert found.fix


def test_a_clue_for_the_column_that_differs_wins() -> None:
    """Of two clocks in the code, the one that fills the column."""
    clues = [
        Clue(kind="clock", words="now in column other", column="other", where="t.py:1"),
        Clue(kind="clock", words="now in column value", column="value", where="t.py:2"),
    ]
    found = likely_cause("two", difference("a", "b"), clues, now=NOW)
    assert found.where == "t.py:2"


def test_rows_that_were_added_again_are_an_append_whatever_else_is_in_the_code() -> None:
    """A clock in a log line does not double rows."""
    columns = ("id",)
    doubled = compare_table("t", Rows.of(columns, [(1,)]), Rows.of(columns, [(1,), (1,)]))
    clock = Clue(kind="clock", words="datetime.now", where="job.py:3")
    assert likely_cause("two", doubled, [clock], now=NOW).kind == "append"


def test_every_cause_has_words_and_a_fix_and_every_check_is_known() -> None:
    """The three tables agree."""
    assert set(WORDS) == set(FIXES)
    assert {kind for kinds in SUITED.values() for kind in kinds} <= set(WORDS)
    assert {check.name for check in CHECKS} - {"text"} == set(SUITED)
    assert chosen_checks(["two, crash"], command=True) == ("two", "crash")


CODE = '''
import os
from datetime import date

@F.udf("string")
def today(_):
    return str(date.today())

def task(orders):
    """Not a call: datetime.now() in a text."""
    region = os.environ["REGION"] or os.getenv("PLACE")
    return orders.groupBy("day").agg(F.first("x"), F.lit(random.random()), F.lit(uuid.uuid4()))
'''


def test_reading_python_finds_calls_and_where_they_stand() -> None:
    """Texts and comments are not code; a UDF's own clock is told apart."""
    found = read_python(CODE, path="t.py", first_line=10)
    kinds = {(clue.kind, clue.where) for clue in found.clues}
    assert ("clock", "t.py:16") in kinds
    assert ("chance", "t.py:21") in kinds
    assert ("uuid", "t.py:21") in kinds
    assert ("row order", "t.py:21") in kinds
    assert ("environment", "t.py:20") in kinds
    assert [clue.kind for clue in found.in_workers] == ["clock"]
    assert found.variables == ("REGION", "PLACE")
    assert read_python("not python (", path="t.py").clues == ()


def test_reading_sql_finds_functions_outside_of_comments() -> None:
    """With the line of the file."""
    found = read_sql("SELECT a, -- now()\n row_number() OVER (ORDER BY b) FROM t", path="t.sql")
    assert [(clue.kind, clue.where) for clue in found.clues] == [("row order", "t.sql:2")]


@pytest.mark.parametrize(
    ("function", "fix", "kind"),
    [
        ("current_timestamp", "x", "clock"),
        ("uuid", "x", "uuid"),
        ("rand", "x", "chance"),
        ("monotonically_increasing_id", "x", "row order"),
        ("collect_list", "x", "row order"),
        ("python", f"{UUIDS[0]} became {UUIDS[1]} when Python's clock moved", "uuid"),
        ("python", "0.4 became 0.7 when Python's clock moved", "chance"),
    ],
)
def test_what_a_plan_depends_on_is_a_clue(function: str, fix: str, kind: str) -> None:
    """Its kind comes from the function, or from the code where Python made a literal."""
    code = read_python("x = random.random()", path="t.py").clues
    hidden = HiddenInputFound(function=function, place="column key", fix=fix)
    (clue,) = plan_clues([hidden], code, path="t.py:1")
    assert (clue.kind, clue.column) == (kind, "key")
