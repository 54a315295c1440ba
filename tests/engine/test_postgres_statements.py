"""The SQL that Postgres is given, without a database."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING

import pytest

from setpoint.engine.commit_mark import WHOLE, scope_name
from setpoint.engine.spark.postgres import statements as sql
from setpoint.engine.spark.postgres.types import fits, postgres_type, sent_sql, staging_type
from setpoint.errors import ResultMisshapen
from setpoint.model.grain import Grain
from setpoint.model.scope import ColumnKind

if TYPE_CHECKING:
    from setpoint.model.window import Window

SHAPE = sql.Shape(
    table='"public"."customers"',
    columns={"id": "bigint", "name": "text", "changed_at": "timestamp with time zone"},
    key=("id",),
    version="changed_at",
)

INSTANTS = (
    "{} >= TIMESTAMPTZ '2026-10-24 22:00:00+00:00' AND {} < TIMESTAMPTZ '2026-10-25 23:00:00+00:00'"
)


def _window(grain: str = "day", zone: str = "UTC", at: str = "2026-04-25T12:00") -> Window:
    moment = datetime.fromisoformat(at).replace(tzinfo=timezone.utc)
    return Grain.parse(grain, zone=zone).window_at(moment)


def test_a_merge_updates_only_where_the_version_is_newer() -> None:
    """B2: ON CONFLICT with a version guard, in the order of the key."""
    assert sql.merge_sql(SHAPE, "reduced") == (
        'INSERT INTO "public"."customers" AS target ("id", "name", "changed_at") '
        'SELECT "id", "name", "changed_at" FROM reduced ORDER BY "id" ON CONFLICT ("id") '
        'DO UPDATE SET "name" = excluded."name", "changed_at" = excluded."changed_at" '
        'WHERE excluded."changed_at" > target."changed_at"'
    )


def test_a_merge_of_keys_alone_has_nothing_to_update() -> None:
    """A table that is only its key ignores keys that it has."""
    shape = sql.Shape(table="t", columns={"id": "bigint"}, key=("id",))
    assert sql.merge_sql(shape, "reduced").endswith('ON CONFLICT ("id") DO NOTHING')


def test_rows_are_taken_from_named_attempts_only() -> None:
    """The attempts go beside the statement, and each column is cast to the table's type."""
    statement = sql.insert_sql(SHAPE, "staging")
    assert 'CAST(c2 AS timestamp with time zone) AS "changed_at"' in statement
    assert statement.endswith("FROM staging WHERE attempt = ANY($1)")


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (ColumnKind.DATE, "{} >= DATE '2026-10-25' AND {} < DATE '2026-10-26'"),
        (ColumnKind.STRING, "{} >= '2026-10-25' AND {} < '2026-10-26'"),
        (ColumnKind.TIMESTAMP, INSTANTS),
        (
            ColumnKind.TIMESTAMP_NTZ,
            "{} >= TIMESTAMP '2026-10-25 00:00:00' AND {} < TIMESTAMP '2026-10-26 00:00:00'",
        ),
    ],
)
def test_bounds_of_a_day_of_25_hours(kind: ColumnKind, expected: str) -> None:
    """Scenario 30: instants in UTC, wall clocks without a zone, dates as dates."""
    window = _window(zone="Europe/Berlin", at="2026-10-25T12:00")
    assert sql.bounds_sql("at", kind, window) == expected.replace("{}", '"at"')


def test_ranges_cover_the_window_without_gap_or_overlap() -> None:
    """Each range begins where the one before ends; a date column is cut at days."""
    window = _window("week")
    for kind, count in ((ColumnKind.TIMESTAMP, 4), (ColumnKind.DATE, 7), (ColumnKind.DATE, 50)):
        ranges = sql.ranges_sql("at", kind, window, count)
        edges = [part.split(" AND ") for part in ranges]
        lows = [low.partition(">= ")[2] for low, _ in edges]
        highs = [high.partition("< ")[2] for _, high in edges]
        assert lows[1:] == highs[:-1]
        whole = sql.bounds_sql("at", kind, window)
        assert whole == f'"at" >= {lows[0]} AND "at" < {highs[-1]}'
        assert len(ranges) == min(count, 7)


def test_ranges_of_a_key_have_no_outer_end() -> None:
    """A row that comes after the ends were looked up is read too."""
    assert sql.key_ranges_sql("id", 0, 99, 4) == [
        '"id" < 25',
        '"id" >= 25 AND "id" < 50',
        '"id" >= 50 AND "id" < 75',
        '"id" >= 75',
    ]
    assert sql.key_ranges_sql("id", 5, 5, 4) == ["TRUE"]


def test_a_date_cannot_tell_hours_apart() -> None:
    """Each hour would delete the whole day."""
    with pytest.raises(ResultMisshapen, match="shorter than a day"):
        sql.bounds_sql("at", ColumnKind.DATE, _window("hour"))


@pytest.mark.parametrize("name", ['a"b', "a; DROP TABLE x", "Ünïcode", "a.b", "select", "a'b"])
def test_scenario_34_names_are_quoted(name: str) -> None:
    """A name is read as one identifier, whatever it holds."""
    quoted = sql.identifier(name)
    assert quoted[0] == quoted[-1] == '"'
    assert quoted[1:-1].replace('""', "") == name.replace('"', "")


def test_a_scope_has_a_lock_of_its_own_and_the_whole_table_waits_for_all() -> None:
    """Different windows go on side by side; a whole-table write excludes them."""
    day, other = (scope_name(_window(at=f"2026-04-{d}T00:00")) for d in (25, 26))
    assert sql.lock_sql("t", day) != sql.lock_sql("t", other)
    assert f"xact_lock_shared({sql.lock_number('t')})" in sql.lock_sql("t", day)
    assert f"xact_lock({sql.lock_number('t')})" in sql.lock_sql("t", WHOLE)


@pytest.mark.parametrize(
    ("spark", "expected"),
    [
        ("bigint", "bigint"),
        ("tinyint", "smallint"),
        ("decimal(10,2)", "numeric(10,2)"),
        ("timestamp", "timestamp with time zone"),
        ("timestamp_ntz", "timestamp without time zone"),
        ("string", "text"),
        ("varchar(10)", "text"),
        ("binary", "bytea"),
        ("array<string>", "text[]"),
        ("array<decimal(5,1)>", "numeric(5,1)[]"),
        ("array<array<int>>", "jsonb"),
        ("struct<a:int>", "jsonb"),
        ("map<string,int>", "jsonb"),
        ("interval day to second", None),
        ("variant", None),
    ],
)
def test_types_of_new_columns(spark: str, expected: str | None) -> None:
    """Every type of Spark has one of Postgres that keeps its values, or none."""
    assert postgres_type(spark) == expected


def test_json_travels_as_text() -> None:
    """A struct is copied as text and cast in the final statement."""
    assert staging_type("struct<a:int>") == "text"
    assert sent_sql("s", "struct<a:int>") == "to_json(s)"
    assert sent_sql("n", "int") == "n"


@pytest.mark.parametrize(
    ("spark", "column", "expected"),
    [
        ("int", "bigint", True),
        ("bigint", "integer", False),
        ("int", "numeric(5,0)", True),
        ("decimal(10,2)", "numeric", True),
        ("decimal(10,2)", "numeric(12,4)", True),
        ("decimal(10,4)", "numeric(12,2)", False),
        ("double", "numeric(10,2)", False),
        ("double", "real", False),
        ("float", "double precision", True),
        ("timestamp", "timestamp without time zone", False),
        ("timestamp", "date", False),
        ("string", "character varying(5)", True),
        ("string", "uuid", True),
        ("string", "integer", False),
        ("string", "text[]", False),
        ("struct<a:int>", "json", True),
        ("array<int>", "bigint[]", True),
        ("array<int>", "text", False),
        ("bigint", "text", False),
        ("boolean", "integer", False),
    ],
)
def test_what_an_existing_column_may_take(spark: str, column: str, *, expected: bool) -> None:
    """A value is kept as it is or refused by the server; it is never rounded or cut in silence."""
    assert fits(spark, column) is expected


def test_a_text_is_never_cut_to_fit() -> None:
    """A cast to `varchar(3)` would cut it without a word; an insert into the column refuses it."""
    shape = sql.Shape(
        table="t",
        columns={"a": "character varying(3)", "b": "character(3)", "c": "uuid", "d": "text"},
    )
    casts = [part.partition(" AS ")[2].partition(")")[0] for part in shape.staged.split(", ")]
    assert casts == ["text", "text", "uuid", "text"]
