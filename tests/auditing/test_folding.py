"""Columns that decide nothing are folded away before parsing, and nobody can tell."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sqlglot import tokenize

from setpoint.auditing.audit import SourceFile, audit_files
from setpoint.auditing.sql import folding
from setpoint.auditing.sql.folding import folded
from setpoint.auditing.sql.inputs import HIDING_PIECES

if TYPE_CHECKING:
    from setpoint.auditing.finding import Report

CASES = Path(__file__).parents[1] / "audit" / "cases"
FILLING = ", ".join(f"coalesce(o.c{n}, 0) AS c{n}" for n in range(12))


def left_of(sql: str) -> str:
    """What the parser gets to see."""
    return " ".join(token.text for token in folded(tokenize(sql), sql, 0, HIDING_PIECES))


def test_a_computed_column_leaves_its_name() -> None:
    """Beside a clock, only the names of the other columns reach the parser, in their places."""
    shown = left_of(f"INSERT INTO t SELECT o.id, {FILLING}, now() AS z FROM raw.orders AS o")
    assert shown == (
        "INSERT INTO t SELECT o . id , "
        + " , ".join(f"c{n}" for n in range(12))
        + " , now ( ) AS z FROM raw . orders AS o"
    )


def test_a_list_that_hides_nothing_is_cut_short() -> None:
    """The first column, a plain one and the last say all that anyone asks of such a list."""
    rest = "FROM raw.orders AS o WHERE o.at > now()"
    shown = left_of(f"INSERT INTO t SELECT sum(o.a) AS a, {FILLING}, o.k, {FILLING}, o.z {rest}")
    assert shown == (
        "INSERT INTO t SELECT sum ( o . a ) AS a , o . k , o . z "
        "FROM raw . orders AS o WHERE o . at > now ( )"
    )


def test_a_word_in_a_comment_hides_nothing() -> None:
    """`-- as of now: the amount` above a column is no clock and no bound value."""
    noted = FILLING.replace(", ", ",\n-- as of now: max(x)?\n")
    shown = left_of(f"INSERT INTO t SELECT o.id, {noted}, o.z FROM raw.orders AS o")
    assert shown == "INSERT INTO t SELECT o . id , o . z FROM raw . orders AS o"


@pytest.mark.parametrize(
    "sql",
    [
        f"FROM raw INSERT INTO t SELECT o.id, o.k, count(1) GROUP BY {FILLING}",
        f"SELECT o.id, o.k INTO x, {FILLING} FROM raw.orders AS o",
        f"MERGE INTO t USING (SELECT DISTINCT o.k, {FILLING}, o.z FROM raw) s ON t.a = s.a",
    ],
)
def test_what_only_looks_like_a_list_of_columns_stays(sql: str) -> None:
    """Groups, targets of INTO and the columns that a merge's source is distinct by are read."""
    shown = left_of(sql)
    for number in range(12):
        assert f"c{number}" in shown


@pytest.mark.parametrize(
    "column",
    [
        "date_diff(now(), o.at) AS age",
        "md5(uuid()) AS id",
        "(SELECT max(x) FROM t) AS top",
        "coalesce(?, o.a) AS given",
        "coalesce(:day, o.a) AS given",
    ],
)
def test_a_column_that_someone_looks_into_stays(column: str) -> None:
    """A clock, a subquery, a bound value: their column is parsed as written."""
    sql = f"INSERT INTO t SELECT o.id, {column}, {FILLING}, o.z FROM raw.orders AS o"
    whole = " ".join(token.text for token in tokenize(column))
    assert whole in left_of(sql)


def test_aggregates_stay_when_nothing_beside_them_is_plain() -> None:
    """`SELECT sum(a), sum(b)` is one row, and a merge from it needs no reduction."""
    sums = ", ".join(f"sum(o.c{n}) AS c{n}" for n in range(12))
    sql = f"MERGE INTO t USING (SELECT {sums} FROM raw.orders AS o) s ON t.id = s.c1"
    assert left_of(sql) == " ".join(token.text for token in tokenize(sql))


def report_on_the_cases() -> Report:
    """One audit of the files of all cases."""
    places = [place for place in sorted(CASES.rglob("*")) if place.suffix in {".sql", ".py"}]
    return audit_files(
        SourceFile(path=f"{number}/{place.name}", text=place.read_text(encoding="utf-8"))
        for number, place in enumerate(places)
    )


def test_every_case_is_judged_as_if_nothing_were_folded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Folding changes no finding and no verdict of any labelled case."""
    monkeypatch.setattr(folding, "_FEW", 0)
    quick = report_on_the_cases()
    monkeypatch.setattr(folding, "folded", lambda tokens, *_: tokens)
    whole = report_on_the_cases()
    assert quick.findings == whole.findings
    assert quick.pipelines == whole.pipelines
    assert set(quick.unparsed) <= set(whole.unparsed)
