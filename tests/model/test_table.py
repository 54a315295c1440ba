"""Names of tables and columns are quoted right or refused, never run (scenario 34)."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from setpoint.errors import UsageError
from setpoint.model.gate import CheckGate
from setpoint.model.scope import ColumnKind, bounds_sql
from setpoint.model.table import TableName, quote
from setpoint.model.transform import compose_sql, source_sql
from setpoint.model.window import Window

HOSTILE = st.text(st.sampled_from("ab.`'\";-/*\\ \n\t\0\u00a0é😀$(){}%\u202e#"), max_size=24) | (
    st.text(max_size=40)
)
QUOTED = re.compile(r"`(?:[^`]|``)+`|[A-Za-z_][A-Za-z0-9_]*")
DAY = Window.parse_key("2026-04-25T00:00:00Z/2026-04-26T00:00:00Z")


def test_a_name_has_a_catalog_a_namespace_and_a_table() -> None:
    """`lake.shop.orders` is read into its parts and shown as it was written."""
    name = TableName.parse("lake.shop.orders")
    assert name.parts == ("lake", "shop", "orders")
    assert name.catalog == "lake"
    assert str(name.namespace) == "lake.shop"
    assert str(name) == name.sql == "lake.shop.orders"


def test_a_part_in_backticks_holds_any_printable_character() -> None:
    """Dots, quotes and doubled backticks stay inside their part."""
    name = TableName.parse("lake.`my shop`.`a.b``c; DROP TABLE x --`")
    assert name.parts == ("lake", "my shop", "a.b`c; DROP TABLE x --")
    assert name.sql == "lake.`my shop`.`a.b``c; DROP TABLE x --`"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        "orders",
        "shop.orders",
        "lake..orders",
        ".lake.shop.orders",
        "lake.shop.orders.",
        "lake.shop.`orders",
        "lake.shop.``",
        "lake.shop.`a`b",
        "lake.shop.`..`",
        "lake.shop.`../../outside`",
        "lake.shop. orders",
        "lake.shop.ord\ners",
        "lake.shop.ord\0ers",
        "lake.shop.\u202eorders",
        "lake.shop." + "x" * 256,
    ],
)
def test_what_is_not_a_table_name_is_refused_with_the_way_to_write_one(text: str) -> None:
    """Missing parts, stray dots and backticks, control characters, endless names."""
    with pytest.raises(UsageError) as refusal:
        TableName.parse(text)
    assert "catalog.namespace.table" in (refusal.value.next_step or "")


@given(HOSTILE)
@example("lake.shop.orders; DROP TABLE lake.shop.orders")
@example("lake.shop.`orders` WHERE 1=1 --`")
@settings(max_examples=10_000, deadline=None)
def test_a_hostile_table_name_is_refused_or_stays_one_name(text: str) -> None:
    """Ten thousand fuzzed names: what is accepted is quoted whole, and reads back the same."""
    try:
        name = TableName.parse("lake.shop." + text)
    except UsageError:
        return
    assert re.fullmatch(rf"(?:{QUOTED.pattern})(?:\.(?:{QUOTED.pattern}))+", name.sql)
    assert name.sql.count("`") % 2 == 0
    assert TableName.parse(name.sql) == name


@given(HOSTILE.filter(bool))
@settings(max_examples=2_000, deadline=None)
def test_a_hostile_column_name_stays_one_identifier(text: str) -> None:
    """A column's name in a filter, a source's name in a WITH: one identifier, whatever it holds."""
    quoted = quote(text)
    assert QUOTED.fullmatch(quoted)
    assert quoted.strip("`").replace("``", "`") == text.strip("`") or "`" in text
    bounds = bounds_sql(text, ColumnKind.DATE, DAY)
    assert bounds == f"{quoted} >= DATE '2026-04-25' AND {quoted} < DATE '2026-04-26'"
    assert compose_sql("SELECT 1", {text: "SELECT 2"}).startswith(f"WITH {quoted} AS (")


@pytest.mark.parametrize("word", ["current_date", "CURRENT_TIMESTAMP", "user", "null", "True"])
def test_a_column_called_like_a_word_of_sql_is_quoted(word: str) -> None:
    """Bare, Spark reads these words as a clock, a user or a constant instead of the column."""
    assert quote(word) == f"`{word}`"
    assert TableName.parse(f"lake.shop.{word}").parts[-1] == word


def test_plain_names_are_left_as_they_are() -> None:
    """Most names need no quotes, and statements stay readable."""
    assert quote("order_date") == "order_date"
    assert quote("1st") == "`1st`"
    assert quote("größe") == "`größe`"
    assert quote("a\n") == "`a\n`"


def test_a_check_may_be_called_anything() -> None:
    """A check's name is shown and never becomes SQL; its condition stands beside it."""
    assert str(CheckGate(name="a`; b", condition="x > 0")) == "a`; b: x > 0"


def test_a_source_is_read_with_its_bounds() -> None:
    """The subquery of a source carries its filter where there is one."""
    assert source_sql("lake.a.b", None) == "SELECT * FROM lake.a.b"
    assert source_sql("lake.a.b", "x > 1") == "SELECT * FROM lake.a.b\n  WHERE x > 1"


def test_a_select_without_sources_is_carried_out_as_it_is() -> None:
    """Nothing is wrapped around a statement that reads no source."""
    assert compose_sql("SELECT 1", {}) == "SELECT 1"
    both = compose_sql("SELECT a", {"x": "SELECT 1", "y": "SELECT 2"})
    assert (
        both == "WITH x AS (\n  SELECT 1\n),\ny AS (\n  SELECT 2\n)\nSELECT * FROM (\nSELECT a\n)"
    )
