"""The checksum `ck1` as a Spark expression; its definition is in `setpoint.model.checksum`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F
from pyspark.sql import types as T

from setpoint.errors import UsageError
from setpoint.model.checksum import WRAP, Checksum
from setpoint.model.encoding import counted

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

# BigDecimal switches to exponents when a scale goes past this; up to it a cast to text is plain.
PLAIN_SCALE = 6


def checksum(frame: DataFrame) -> Checksum:
    """The content checksum of a frame; one job."""
    digest = F.sha2(encode_row(frame), 256)
    parts = frame.select(digest.alias("digest")).agg(
        F.count(F.lit(1)).alias("rows"),
        half_sum("digest", 1).alias("first"),
        half_sum("digest", 17).alias("second"),
    )
    row = parts.collect()[0]
    return Checksum(row["rows"], int(row["first"] or 0) % WRAP, int(row["second"] or 0) % WRAP)


def encode_row(frame: DataFrame) -> Column:
    """The text of each row that is hashed."""
    return _encode_fields(
        [(field.name, frame[_quoted(field.name)], field.dataType) for field in frame.schema.fields]
    )


def half_sum(digest: str, position: int) -> Column:
    """The sum over 64 bits of each digest, from this position on."""
    half = F.conv(F.substring(digest, position, 16), 16, 10)
    # Decimals, because a sum of 64-bit numbers overflows, and ANSI mode makes that an error.
    return F.sum(half.cast("decimal(38,0)"))


def _encode_fields(fields: list[tuple[str, Column, T.DataType]]) -> Column:
    texts: list[Column] = [F.lit(f"r{len(fields)}(")]
    for name, column, kind in sorted(fields, key=lambda field: field[0].encode()):
        texts += [F.lit(counted(name)), encode_value(column, kind)]
    return F.concat(*texts, F.lit(")"))


def encode_value(column: Column, kind: T.DataType) -> Column:
    """The text of one value that is hashed; a null has one too."""
    return F.coalesce(_encode_present(column, kind), F.lit("n"))


def _encode_present(column: Column, kind: T.DataType) -> Column:  # noqa: PLR0911, C901
    if isinstance(kind, T.BooleanType):
        return F.when(column, F.lit("b1")).when(~column, F.lit("b0"))
    if isinstance(kind, T.IntegralType):
        return _tagged("i", column.cast("string"))
    if isinstance(kind, T.FractionalType) and not isinstance(kind, T.DecimalType):
        # xxhash64 never is null, not even of null.
        mixed = F.xxhash64(column.cast("double")).cast("string")
        return F.when(column.isNotNull(), _tagged("f", mixed))
    if isinstance(kind, T.DecimalType):
        return _tagged("d", _plain_decimal(column, kind.scale))
    if isinstance(kind, (T.StringType, T.CharType, T.VarcharType)):
        return _counted("s", column)
    if isinstance(kind, T.BinaryType):
        return _counted("x", F.hex(column))
    if isinstance(kind, T.DateType):
        return _tagged("t", F.unix_date(column).cast("string"))
    if isinstance(kind, T.TimestampType):
        return _tagged("T", F.unix_micros(column).cast("string"))
    if isinstance(kind, T.TimestampNTZType):
        epoch = F.expr("TIMESTAMP_NTZ '1970-01-01 00:00:00'")
        return _tagged("N", F.timestamp_diff("MICROSECOND", epoch, column).cast("string"))
    if isinstance(kind, T.ArrayType):
        element = kind.elementType
        texts = F.transform(column, lambda item: encode_value(item, element))
        return F.concat(F.lit("a"), _size(column), F.lit("["), F.array_join(texts, ""), F.lit("]"))
    if isinstance(kind, T.MapType):
        return _encode_map(column, kind)
    if isinstance(kind, T.StructType):
        fields = [(f.name, column.getField(f.name), f.dataType) for f in kind.fields]
        return F.when(column.isNotNull(), _encode_fields(fields))
    raise UsageError(
        f"ck1 has no encoding for the type {kind.simpleString()}",
        next_step="cast the column in the task, or leave it out",
    )


def _encode_map(column: Column, kind: T.MapType) -> Column:
    entries = F.transform(
        F.map_entries(column),
        lambda entry: F.concat(
            encode_value(entry["key"], kind.keyType), encode_value(entry["value"], kind.valueType)
        ),
    )
    joined = F.array_join(F.array_sort(entries), "")
    return F.concat(F.lit("m"), _size(column), F.lit("{"), joined, F.lit("}"))


def _plain_decimal(column: Column, scale: int) -> Column:
    if scale == 0:
        return column.cast("string")
    if scale <= PLAIN_SCALE:
        text = column.cast("string")
    else:
        text = F.replace(F.format_number(column, scale), F.lit(","), F.lit(""))
    return F.regexp_replace(text, r"\.?0+$", "")


def _tagged(tag: str, text: Column) -> Column:
    return F.concat(F.lit(tag), text, F.lit(";"))


def _counted(tag: str, text: Column) -> Column:
    return F.concat(F.lit(tag), F.octet_length(text).cast("string"), F.lit(":"), text)


def _size(column: Column) -> Column:
    return F.size(column).cast("string")


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
