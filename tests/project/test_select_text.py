"""The text of a SQL task: read by its words, `surrogate_key` written out, layout ignored."""

from __future__ import annotations

import pytest

from setpoint.errors import UsageError
from setpoint.model.key import surrogate_key_sql
from setpoint.project.select_text import significant_text, understand_select


@pytest.mark.parametrize(
    "text",
    [
        "SELECT :ds, :next_ds, :window_start, :window_end, :logical_date",
        "SELECT payload:customer.id, items[0]:name FROM x",
        "SELECT ':nonsense' AS a, x::int FROM y -- :nothing",
        "WITH a AS (SELECT 1) SELECT * FROM a",
        "(SELECT 1) UNION ALL (SELECT 2)",
        "select `odd:name` from x",
    ],
)
def test_a_select_is_left_as_its_author_wrote_it(text: str) -> None:
    """Parameters, paths into columns, casts, comments and texts are told apart."""
    assert understand_select(text) == text


@pytest.mark.parametrize(
    ("text", "fix"),
    [("SELECT :dss", "did you mean :ds?"), ("SELECT :x + 1", "the parameters are :window_start")],
)
def test_an_unknown_parameter_is_refused_with_the_nearest(text: str, fix: str) -> None:
    """A misspelt parameter would otherwise fail far away, inside Spark."""
    with pytest.raises(UsageError, match="is not a parameter") as refusal:
        understand_select(text)
    assert fix in (refusal.value.next_step or "")


def test_surrogate_keys_are_written_out_wherever_they_stand() -> None:
    """Nested calls, brackets and commas inside an argument stay with it."""
    text = "SELECT surrogate_key(a, coalesce(b, m['x,y'])) AS k, 'surrogate_key(z)' FROM t"
    key = surrogate_key_sql("a", "coalesce(b, m['x,y'])")
    assert understand_select(text) == f"SELECT {key} AS k, 'surrogate_key(z)' FROM t"
    nested = understand_select("SELECT SURROGATE_KEY(surrogate_key(a), b)")
    assert "surrogate_key(" not in nested.replace("'surrogate_key: a '", "").lower()


@pytest.mark.parametrize(
    "text",
    [
        "SELECT surrogate_key(a -- the id\n, b) FROM t",
        "SELECT surrogate_key(a, b -- the last\n) FROM t",
        "SELECT surrogate_key(a /* id */, /* more */ b) FROM t",
        "SELECT surrogate_key(-- first\n a, b) FROM t",
    ],
)
def test_a_comment_among_a_keys_columns_swallows_nothing(text: str) -> None:
    """The columns are what counts: a comment after one must not reach the next."""
    written = understand_select(text)
    assert significant_text(written) == significant_text(
        f"SELECT {surrogate_key_sql('a', 'b')} FROM t"
    )


def test_layout_and_comments_are_not_significant() -> None:
    """Only a change of words is a change."""
    plain = significant_text("SELECT a, b FROM t WHERE a > 'x  y'")
    assert plain == significant_text("SELECT a,\n  b -- why\nFROM t /* here */ WHERE a>'x  y'")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("SELECT 'a'", "SELECT a"),
        ("SELECT `a b`", "SELECT a b"),
        ("SELECT 'a' 'b'", "SELECT 'a b'"),
        ("SELECT 1", "SELECT 2"),
        ("SELECT 'a  b'", "SELECT 'a b'"),
        ("SELECT 'A'", "SELECT 'a'"),
    ],
)
def test_a_change_of_meaning_is_significant(one: str, other: str) -> None:
    """A text is not a column, and two texts are not one."""
    assert significant_text(one) != significant_text(other)
