from __future__ import annotations

import inspect
import logging
import re

import pytest

from setpoint.auditing.audit import SourceFile, audit_files
from setpoint.auditing.sql import inputs
from setpoint.auditing.sql.dialects import _HINTS, guess_dialect, plain_pieces
from setpoint.auditing.sql.inputs import _hiding_kinds, may_hide, source_of

TEXTS = {
    "tsql": "SELECT TOP 5 * INTO #x FROM dbo.t; SET NOCOUNT ON",
    "bigquery": "SELECT SAFE_CAST(a AS INT64) FROM `p.d.t`",
    "snowflake": "COPY INTO t FROM @s; SELECT IFF(a, b, c)",
    "spark": "INSERT OVERWRITE t SELECT 1; CREATE TABLE t USING delta TBLPROPERTIES ('a'='b')",
    "redshift": "CREATE TABLE t (a INT) DISTKEY(a) SORTKEY(a)",
    "mysql": "INSERT IGNORE INTO t SELECT CURDATE(); CREATE TABLE t (a INT) ENGINE = InnoDB",
    "oracle": "SELECT TRUNC(SYSDATE) FROM dual",
    "duckdb": "SELECT * FROM read_parquet('a.parquet')",
    "clickhouse": "CREATE TABLE t (a Int8) ENGINE = ReplacingMergeTree ORDER BY a",
    "postgres": "SELECT a::date FROM t WHERE b ILIKE 'x' ON CONFLICT DO NOTHING",
    "trino": "SELECT date_parse(a, '%Y') FROM t",
}


@pytest.mark.parametrize(("name", "text"), TEXTS.items())
def test_a_dialect_is_known_by_its_own_words(name: str, text: str) -> None:
    """Each dialect is guessed from words that only it has."""
    assert guess_dialect(text) == name


def test_a_match_always_holds_the_pieces_that_are_looked_for_first() -> None:
    """The quick look never hides a match of the pattern."""
    for text in TEXTS.values():
        for _, pattern in _HINTS:
            for match in pattern.finditer(text.lower()):
                found = match.group(0)
                pieces = plain_pieces(pattern.pattern)
                assert any(all(piece in found for piece in one) for one in pieces)


def test_pieces_are_read_off_a_pattern() -> None:
    """Groups, classes and what may be absent are no pieces; escaped signs are."""
    assert plain_pieces(r"\bnow\(\)|a\s+(?:b|c)d?ef[xy]|::\w+") == (
        ("now()",),
        ("ef", "a"),
        ("::",),
    )


def test_what_does_not_parse_is_in_the_report_and_not_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The parser's own warnings do not reach the user's terminal."""
    with caplog.at_level(logging.WARNING):
        audit_files([SourceFile(path="a.sql", text="CREATE TABLE a ASb.c);\nINSERT INTO (;\n")])
    assert not caplog.records


def test_every_kind_that_is_asked_for_is_shown() -> None:
    """No kind of node that may hide an input is left out of the quick look."""
    asked = set(re.findall(r"exp\.(\w+)", inspect.getsource(source_of))) - {"Expr", "Func"}
    assert asked <= {kind.__name__ for kind in _hiding_kinds()}


def test_every_name_of_a_hidden_input_is_worth_a_look() -> None:
    """The quick look at a statement's text knows each name that the tree is searched for."""
    names = inputs._CLOCK_NAMES | inputs._RANDOM_NAMES | inputs._UUID_NAMES
    calls = {name.lower() for kind in _hiding_kinds() for name in function_names(kind)}
    calls -= {"cast", "try_cast", "j_s_o_n_cast", "anonymous"}
    for name in names | calls | {"unix_timestamp", "date", "timestamp", "nextval"}:
        assert may_hide(f"SELECT {name}()"), name


def function_names(kind: type) -> list[str]:
    """The SQL names of a function's node."""
    return list(kind.sql_names()) if hasattr(kind, "sql_names") else []
