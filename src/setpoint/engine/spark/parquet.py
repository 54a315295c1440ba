"""Hive-style Parquet as a target: rows are written aside, then partition folders are swapped."""

from __future__ import annotations

import errno
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyspark.errors import AnalysisException
from pyspark.sql.types import StructType

from setpoint.engine.protocol import Outcome
from setpoint.engine.spark.fitting import fitted
from setpoint.engine.spark.target import TableState
from setpoint.engine.swap import Counts, SwapFolder
from setpoint.errors import EngineFailed, ResultMisshapen, SourceFault, StorageFull
from setpoint.failpoint import failpoint
from setpoint.model.scope import ColumnKind
from setpoint.model.table import quote
from setpoint.model.table_folder import owned_folder, partition_of
from setpoint.model.write import Overwrite

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from setpoint.engine.commit_mark import CommitMark
    from setpoint.engine.spark.target import Writing
    from setpoint.model.table import TableName
    from setpoint.model.task import Task


class ParquetTarget:
    """One folder of Parquet files that a task owns."""

    def __init__(self, spark: SparkSession, table: TableName, folder: Path) -> None:
        self.spark = spark
        self.table = table
        self.folder = SwapFolder(folder)

    def reference(self, snapshot: str | None = None) -> str:
        """The table in a FROM clause of Spark SQL: a view of its files as they are now."""
        if snapshot is not None:
            raise SourceFault(
                f"{self.table} keeps no history, so it cannot be read as it was",
                next_step="keep it as an Iceberg or Delta table to read earlier states",
            )
        with self._disk():
            self.folder.finish()
        schema = self._schema()
        if schema is None:
            raise SourceFault(
                f"the table {self.table} does not exist",
                next_step="check the name, or run the task that makes it first",
            )
        view = f"setpoint {self.table}"
        self._read(self.folder.root, schema).createOrReplaceTempView(quote(view))
        return quote(view)

    def state(self) -> TableState | None:
        """The table's columns and the number of its newest commit; None when it is not there."""
        schema = self._schema()
        if schema is None:
            return None
        columns = {field.name: field.dataType.simpleString() for field in schema.fields}
        with self._disk():
            return TableState(columns=columns, snapshot=str(self.folder.latest()))

    def exists(self) -> bool:
        """Whether there is such a table."""
        return self.state() is not None

    def create(self, frame: DataFrame, task: Task) -> None:
        """Write down the columns of the result; the folder is made on the way."""
        _check_partition(frame.schema, task)
        with self._disk():
            self.folder.describe({"schema": frame.schema.jsonValue()})

    def write(self, writing: Writing) -> None:
        """Make the scope match the frame: write aside, then swap its folders."""
        schema = self._schema()
        if schema is None:
            raise EngineFailed(f"the folder of {self.table} is gone")
        _check_partition(schema, writing.task)
        by = writing.task.write.by if isinstance(writing.task.write, Overwrite) else None
        if by is not None:
            self._check_layout(by)
        frame = fitted(writing.frame, writing.state.columns)
        with self._disk():
            self.folder.describe({"schema": schema.jsonValue()})
            staging = self.folder.stage(writing.token)
        failpoint("parquet.stage.before")
        writer = frame.write.mode("overwrite")
        (writer.partitionBy(by) if by else writer).parquet(str(staging))
        failpoint("parquet.stage.after")
        window = writing.window

        def owned(entry: str) -> bool:
            return by is None or (window is not None and owned_folder(entry, by, window))

        counts = self._counts(schema, staging, writing.scope, by)
        failpoint("parquet.count.after")
        with self._disk():
            self.folder.swap(
                writing.token,
                scope=writing.scope,
                owned=owned,
                base=int(writing.state.snapshot or 0),
                counts=counts,
                inputs=writing.inputs,
            )

    def commit(self, run_id: str) -> Outcome | None:
        """The newest commit of a run."""
        with self._disk():
            found = self.folder.commit_of(run_id)
        if found is None:
            return None
        # No snapshot: there is none that could be read again.
        return Outcome(
            rows=found.rows,
            replaced=found.replaced,
            snapshot=None,
            partitions=found.partitions,
            inputs=found.inputs,
        )

    def drop(self) -> None:
        """Remove the table and its files, if it is there."""
        shutil.rmtree(self.folder.root, ignore_errors=True)

    def strangers_since(self, snapshot: str | None) -> bool:  # noqa: ARG002 — it keeps no such history
        """Nobody can tell."""
        return False

    def marks(self) -> list[CommitMark]:
        """None: the swap itself refuses who was overtaken, behind the folder's lock."""
        return []

    def highest_fence(self) -> int:
        """The highest fence among the commits that the table remembers; 0 for none."""
        with self._disk():
            return self.folder.highest_fence()

    def _schema(self) -> StructType | None:
        kept = self.folder.description()
        if kept is not None:
            return StructType.fromJson(kept["schema"])
        if not self.folder.entries():
            return None
        try:
            return self.spark.read.parquet(str(self.folder.root)).schema
        except AnalysisException as error:
            raise ResultMisshapen(
                f"the folder of {self.table} is not a table of Parquet files",
                facts={"found": ", ".join(self.folder.entries()[:5])},
                next_step="name another table, or move these files away",
            ) from error

    def _read(self, path: Path, schema: StructType) -> DataFrame:
        frame = self.spark.read.schema(schema).parquet(str(path))
        return frame.select(*(quote(name) for name in schema.names))

    def _counts(
        self, schema: StructType, staging: Path, scope: str | None, by: str | None
    ) -> Counts:
        """Rows to come, by partition, and rows to go. It reads the files' footers only."""
        staged = self._read(staging, schema)
        before = self._read(self.folder.root, schema)
        replaced = (before.where(scope) if scope else before).count()
        if by is None:
            return Counts(rows=staged.count(), replaced=replaced, partitions={})
        found = staged.groupBy(quote(by)).count().collect()
        partitions = {f"{by}={row[0]}": int(row[1]) for row in found}
        return Counts(rows=sum(partitions.values()), replaced=replaced, partitions=partitions)

    def _check_layout(self, by: str) -> None:
        """Refuse a table that is not laid out as one folder for each value of `by`."""
        for entry in self.folder.entries():
            found = partition_of(entry)
            if found is None:
                layout = "files that are not in partition folders"
            elif found[0].lower() != by.lower():
                layout = f"folders by {found[0]}"
            elif any(partition_of(path.name) for path in (self.folder.root / entry).iterdir()):
                layout = f"folders below {entry}"
            else:
                continue
            raise ResultMisshapen(
                "the table's files hold rows of other windows too, so this one cannot be set alone",
                facts={"expected": f"one folder for each {by}", "found": layout},
                next_step=f"rewrite the table partitioned by {by}, or use replace()",
            )

    @contextmanager
    def _disk(self) -> Iterator[None]:
        """Put faults of the disk into Setpoint's words."""
        try:
            yield
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise StorageFull(
                    "no space is left where the table lives",
                    next_step="free some space, then run the same command again",
                ) from None
            raise EngineFailed(
                f"the folder of {self.table} cannot be used: {error.strerror}: {error.filename}",
                next_step="check the folder and its rights, then run the same command again",
            ) from None


def _check_partition(schema: StructType, task: Task) -> None:
    """A partition folder is a day, so the column must be a date, or a day as ISO text."""
    if not isinstance(task.write, Overwrite):
        return
    by = task.write.by.lower()
    field = next((field for field in schema.fields if field.name.lower() == by), None)
    kind = ColumnKind.of(field.dataType.simpleString()) if field else None
    if kind not in (ColumnKind.DATE, ColumnKind.STRING):
        raise ResultMisshapen(
            f"a Parquet table has one folder for each day, and {task.write.by} is not a day",
            facts={
                "expected": f"{task.write.by} as a date, or ISO text",
                "found": field.dataType.simpleString() if field else "no such column",
            },
            next_step="overwrite by a date column of the result, such as to_date(…)",
        )
