"""Types of columns, from Spark's to Postgres's and back. Pure: names in, names out."""

from __future__ import annotations

import re

SIMPLE = {
    "boolean": "boolean",
    "tinyint": "smallint",
    "smallint": "smallint",
    "int": "integer",
    "bigint": "bigint",
    "float": "real",
    "double": "double precision",
    "string": "text",
    "binary": "bytea",
    "date": "date",
    "timestamp": "timestamp with time zone",
    "timestamp_ntz": "timestamp without time zone",
}
DECIMAL = re.compile(r"decimal\((\d+),(\d+)\)\Z")
NUMERIC = re.compile(r"numeric(?:\((\d+),(-?\d+)\))?\Z")
SIZED_TEXT = re.compile(r"(?:var)?char\(\d+\)\Z")
NESTED = ("struct<", "map<", "array<")
WIDER = {
    "smallint": ("smallint", "integer", "bigint", "numeric"),
    "integer": ("integer", "bigint", "numeric"),
    "bigint": ("bigint", "numeric"),
    "real": ("real", "double precision"),
    "double precision": ("double precision",),
}
"""The types that hold every value of another one unchanged."""
NOT_TEXT = (
    *("boolean", "smallint", "integer", "bigint", "real", "double precision", "numeric", "bytea"),
    *("date", "timestamp", "time", "interval", "money"),
)


def postgres_type(spark: str) -> str | None:
    """The type of a new column for Spark's type by its simple name; None when there is none."""
    if spark in SIMPLE:
        return SIMPLE[spark]
    decimal = DECIMAL.match(spark)
    if decimal:
        return f"numeric({decimal[1]},{decimal[2]})"
    if SIZED_TEXT.match(spark):
        return "text"
    if spark.startswith("array<"):
        element = postgres_type(spark[len("array<") : -1])
        if element and element != "jsonb" and not element.endswith("[]"):
            return f"{element}[]"
    return "jsonb" if spark.startswith(NESTED) else None


def staging_type(spark: str) -> str:
    """The type of the column that rows are copied into: what the copy sends, exactly."""
    kind = postgres_type(spark)
    return "text" if kind is None or kind == "jsonb" or kind.endswith("[]") else kind


def sent_sql(column: str, spark: str) -> str:
    """The expression in Spark SQL that is copied; the final statement casts it to the column.

    Arrays go as Postgres writes them: drivers differ in what they make of a null inside one.
    """
    kind = postgres_type(spark)
    if kind == "jsonb":
        return f"to_json({column})"
    if kind is None or not kind.endswith("[]"):
        return column
    text = _element_sql(spark[len("array<") : -1])
    escaped = f"replace(replace({text}, '\\\\', '\\\\\\\\'), '\"', '\\\\\"')"
    element = f"coalesce(concat('\"', {escaped}, '\"'), 'NULL')"
    return f"concat('{{', array_join(transform({column}, x -> {element}), ','), '}}')"


def _element_sql(spark: str) -> str:
    if spark == "binary":
        return "concat('\\\\x', hex(x))"
    if spark == "timestamp":
        epoch = "TIMESTAMP_NTZ '1970-01-01 00:00:00'"
        return f"concat(CAST(timestampadd(MICROSECOND, unix_micros(x), {epoch}) AS STRING), '+00')"
    return "CAST(x AS STRING)"


def fits(spark: str, column: str) -> bool:
    """Whether an existing column holds every value of Spark's type unchanged, or refuses it."""
    kind = postgres_type(spark)
    if kind is None or kind == column:
        return kind is not None
    if kind.endswith("[]"):
        return column.endswith("[]") and fits(spark[len("array<") : -1], column[:-2])
    if kind == "jsonb":
        return column == "json"
    given, have = NUMERIC.match(kind), NUMERIC.match(column)
    if given and have:
        # Fewer digits after the point would be rounded without a word; too many before it fail.
        return have[1] is None or int(have[2]) >= int(given[2])
    if kind == "text":
        return not column.startswith(NOT_TEXT) and not column.endswith("[]")
    return column.partition("(")[0] in WIDER.get(kind, ()) and _keeps_digits(kind, column)


def _keeps_digits(kind: str, column: str) -> bool:
    """A whole number in a numeric: only too few digits, which fails, never a rounding."""
    have = NUMERIC.match(column)
    return not have or have[1] is None or (int(have[2]) >= 0 and kind in WIDER)
