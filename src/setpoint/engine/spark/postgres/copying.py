"""Rows on their way to Postgres: brought to the driver when small, else copied by the workers."""

from __future__ import annotations

import contextlib
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from setpoint.engine.spark.inspection import printed_plan
from setpoint.engine.spark.postgres.translation import MARK, STAGING, translate_marked
from setpoint.engine.spark.postgres.types import sent_sql
from setpoint.engine.spark.translation import SPARK_ERRORS
from setpoint.errors import MissingExtra
from setpoint.failpoint import VARIABLE
from setpoint.model.table import quote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import pyarrow as pa
    from pyspark.sql import DataFrame

    from setpoint.engine.spark.postgres.staging import Staging

    Copier = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]

SMALL_BYTES = 64 << 20
"""Spark's estimate up to which a result is brought to the driver: one connection, no workers."""
TOO_LARGE = "spark.driver.maxResultSize"
COPY_ERRORS: tuple[type[Exception], ...] = (RuntimeError, *SPARK_ERRORS)
UNITS = {"B": 0, "KiB": 10, "MiB": 20, "GiB": 30, "TiB": 40, "PiB": 50, "EiB": 60}
ESTIMATE = re.compile(r"Statistics\(sizeInBytes=([\d.E+]+) (\w+)")


@dataclass(frozen=True, kw_only=True)
class Copied:
    """What the job's result says was copied. Other rows in the table are of other attempts."""

    rows: int
    attempts: tuple[str, ...]


def sendable(frame: DataFrame) -> DataFrame:
    """The rows as they are copied: columns by number, nested values as text."""
    columns = [
        f"{sent_sql(quote(field.name), field.dataType.simpleString())} AS c{number}"
        for number, field in enumerate(frame.schema.fields)
    ]
    return frame.selectExpr(*columns)


def brought(sent: DataFrame) -> pa.Table | None:
    """The rows at the driver, all gates passed; None when they are too many to be brought."""
    if estimated_bytes(sent) > SMALL_BYTES:
        return None
    try:
        return sent.toArrow()
    except ImportError:
        raise MissingExtra("pyarrow", "postgres") from None
    except SPARK_ERRORS as error:
        if TOO_LARGE not in str(error):
            raise
        return None  # the estimate was wrong


def copy(sent: DataFrame, rows: pa.Table | None, staging: Staging) -> Copied:
    """Copy the rows into a staging table: those at the driver, or else from the workers."""
    return copy_from_workers(sent, staging) if rows is None else copy_from_driver(rows, staging)


def copy_from_driver(rows: pa.Table, staging: Staging) -> Copied:
    """Copy rows that are here over one connection."""
    with _translated(staging):
        batches = rows.to_batches()
        (report,) = (batch.to_pylist()[0] for batch in _staging_copier(staging)(batches))
    return Copied(rows=report["rows"], attempts=(report["attempt"],))


def copy_from_workers(frame: DataFrame, staging: Staging) -> Copied:
    """Let each partition copy its rows; only the attempts that the job's result names count."""
    with _translated(staging):
        try:
            copied = frame.mapInArrow(_staging_copier(staging), "attempt string, rows bigint")
            reports = copied.collect()
        except ImportError:
            raise MissingExtra("pandas or pyarrow", "postgres") from None
    return Copied(
        rows=sum(row["rows"] for row in reports),
        attempts=tuple(row["attempt"] for row in reports),
    )


@contextlib.contextmanager
def _translated(staging: Staging) -> Iterator[None]:
    """The errors of a copy, which come as texts whether from a worker or from here."""
    try:
        yield
    except COPY_ERRORS as error:
        login = staging.login
        found = translate_marked(login.redacted(str(error)), place=login.name)
        if found is None:
            raise
        raise found from None


def _staging_copier(staging: Staging) -> Copier:
    try:
        import adbc_driver_postgresql  # noqa: F401
    except ModuleNotFoundError:
        raise MissingExtra("adbc-driver-postgresql", "postgres") from None
    return _copier(staging.login.text, staging.name, STAGING, MARK, os.environ.get(VARIABLE))


def estimated_bytes(frame: DataFrame) -> float:
    """Spark's own estimate of a result's size; the public API has it in a text only."""
    return parse_estimate(printed_plan(frame, "cost"))


def parse_estimate(plan: str) -> float:
    """The size in the first statistics of a plan; endless when there are none."""
    found = ESTIMATE.search(plan)
    if found is None or found[2] not in UNITS:
        return float("inf")
    return float(found[1]) * float(1 << UNITS[found[2]])


def _copier(login: str, table: str, schema: str, mark: str, traps: str | None = None) -> Copier:
    """A function that copies batches in one transaction and reports its attempt and rows.

    Workers get it by value: as a closure that imports for itself, it needs no Setpoint there.
    """

    def copy_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import itertools
        import os

        import adbc_driver_postgresql.dbapi as adbc
        import pyarrow as pa
        from pyspark import TaskContext

        def failpoint(name: str) -> None:
            if traps:  # a worker has another environment, and need not have Setpoint otherwise
                from setpoint.failpoint import VARIABLE, failpoint

                os.environ[VARIABLE] = traps
                failpoint(name)

        context = TaskContext.get()
        attempt = f"{context.partitionId()}/{context.taskAttemptId()}" if context else "driver"
        given = iter(batches)
        first = next(given, None)
        rows = 0
        if first is not None:
            reader = pa.RecordBatchReader.from_batches(
                first.schema, itertools.chain([first], given)
            )
            failpoint("postgres.rows.before")
            try:
                with adbc.connect(login) as connection, connection.cursor() as cursor:
                    cursor.execute(f"SELECT set_config('setpoint.attempt', '{attempt}', false)")
                    cursor.fetchall()
                    rows = cursor.adbc_ingest(table, reader, mode="append", db_schema_name=schema)
                    connection.commit()
                failpoint("postgres.rows.after")
            except adbc.Error as error:
                raise RuntimeError(f"{mark} [{error.sqlstate}] {error}\n\n") from None
        yield pa.RecordBatch.from_pydict(
            {"attempt": pa.array([attempt]), "rows": pa.array([rows], pa.int64())}
        )

    return copy_batches
