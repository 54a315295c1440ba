"""An engine to try tasks out with: sources in another order, runs that die, copies compared."""

from __future__ import annotations

import shutil
import threading
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from pyspark.sql import Row
from pyspark.sql import functions as F
from pyspark.sql import types as T

from setpoint.engine.spark.engine import SparkEngine
from setpoint.engine.spark.plan_text import normal_lines
from setpoint.engine.spark.postgres.moment import Moments
from setpoint.engine.spark.quick_sum import quick_hashes, quick_sums, quick_text
from setpoint.engine.spark.reading import target_kind
from setpoint.errors import EngineFailed, UsageError
from setpoint.model.plan import WHOLE_TABLE
from setpoint.model.scope import owned_scope
from setpoint.model.table import quote
from setpoint.model.table_folder import table_folder
from setpoint.model.transform import source_sql

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from pyspark.sql import DataFrame

    from setpoint.engine.spark.engine import Built
    from setpoint.engine.spark.target import Target, Writing
    from setpoint.model.settings import Settings
    from setpoint.model.table import TableName
    from setpoint.model.task import Task
    from setpoint.model.window import Window

    Condition = Callable[[], AbstractContextManager[None]]

Death = Literal["before the write", "while writing", "after the commit"]
ELSEWHERE = "other rows"
FEW = 20_000
"""Tables up to so many rows are compared row by row here; of larger ones, only what differs."""
SHOWN = 200


class Died(BaseException):
    """A run was stopped on purpose, as by a kill: nothing may catch it and go on."""


@dataclass(frozen=True, kw_only=True)
class Arrangement:
    """Another way to order and divide the same work."""

    seed: int
    conf: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Differing:
    """Rows of two tables: all of them where there are few, else those that only one has."""

    columns: tuple[str, ...]
    first: list[tuple[Any, ...]]
    second: list[tuple[Any, ...]]
    first_count: int
    second_count: int
    partial: bool


class TrialEngine(SparkEngine):
    """Runs tasks as ever, and as they should never notice."""

    def __init__(self, settings: Settings, *, say: Callable[[str], None]) -> None:
        super().__init__(settings, say=say)
        self._arrangement: Arrangement | None = None
        self._death: Death | None = None
        self._conditions: list[Condition] = []
        self._building = threading.Lock()
        self._second: TrialEngine | None = None

    def second(self) -> TrialEngine:
        """One beside this, on the same Spark, for a thread of its own."""
        if self._second is None:
            self._second = self.twin()
            vars(self._second).update(_building=self._building)
        return self._second

    @contextmanager
    def under(self, condition: Condition) -> Iterator[None]:
        """Let the task's own code see another world while this lasts."""
        self._conditions.append(condition)
        try:
            yield
        finally:
            self._conditions.pop()

    @contextmanager
    def arranged(self, arrangement: Arrangement) -> Iterator[None]:
        """Read sources in another order and divide work otherwise while this lasts."""
        conf = self.spark.conf
        before = {name: conf.get(name, None) for name in arrangement.conf}
        for name, value in arrangement.conf.items():
            conf.set(name, value)
        self._arrangement = arrangement
        try:
            yield
        finally:
            self._arrangement = None
            for name, kept in before.items():
                if kept is None:
                    conf.unset(name)
                else:
                    conf.set(name, kept)

    @contextmanager
    def dying(self, death: Death) -> Iterator[None]:
        """Stop the next write at this step."""
        self._death = death
        try:
            yield
        finally:
            self._death = None

    def contents(self, task: Task, windows: Sequence[Window]) -> dict[str, str]:
        """What each window's scope holds, and all other rows, as sums to compare; one job."""
        with self._errors(task, None), self._zone(task):
            frame = self._frame(task)
            if frame is None:
                return {}
            kind = target_kind(frame, task)
            label = F.lit(WHOLE_TABLE)
            if kind is not None:
                label = F.lit(ELSEWHERE)
                for window in windows:
                    scope = owned_scope(task, window, kind) or "true"
                    label = F.when(F.expr(scope), F.lit(window.label)).otherwise(label)
            hashed = frame.select(label.alias("label"), *quick_hashes(frame))
            sums = hashed.groupBy("label").agg(*quick_sums()).collect()
            return {row["label"]: quick_text(row) for row in sums}

    def differing(self, first: Task, second: Task) -> Differing:
        """What two copies of a target hold, to find where they differ."""
        with self._errors(first, None), self._zone(first):
            one, other = self._frame(first), self._frame(second)
            if one is None or other is None:
                raise EngineFailed("a copy to compare is gone")
            other = other.select(*(quote(name) for name in one.columns))
            counts = one.count(), other.count()
            partial = max(counts) > FEW
            if partial:
                # Maps cannot be compared by Spark itself; their text can.
                one, other = _comparable(one), _comparable(other)
                left, right = one.exceptAll(other).limit(SHOWN), other.exceptAll(one).limit(SHOWN)
            else:
                left, right = one, other
            return Differing(
                columns=tuple(one.columns),
                first=[tuple(row) for row in left.collect()],
                second=[tuple(row) for row in right.collect()],
                first_count=counts[0],
                second_count=counts[1],
                partial=partial,
            )

    def plan_lines(self, task: Task, window: Window | None) -> list[str]:
        """The analysed plan of a task, without what differs between any two analyses."""
        with self._errors(task, window), self._zone(task), Moments() as moments:
            return normal_lines(self._build(task, window, moments).plan.analyzed)

    def create_table(self, table: TableName, rows: Any) -> None:
        """Create or replace a table from a query, a DataFrame or rows, for a test."""
        if isinstance(rows, str):
            frame = self.spark.sql(rows)
        else:
            # A session of its own knows these catalogs: a frame of another one is taken over.
            frame = self.spark.createDataFrame(
                rows.collect()
                if hasattr(rows, "collect")
                else [Row(**dict(each)) for each in rows],
                rows.schema if hasattr(rows, "schema") else None,
            )
        self.drop(table)
        catalog = self._settings.catalogs.get(table.catalog)
        if catalog is not None and catalog.type == "iceberg":
            self.spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {table.namespace.sql}")
            frame.writeTo(table.sql).using("iceberg").create()
        elif catalog is not None and catalog.warehouse is not None:
            folder = str(table_folder(catalog.warehouse, table))
            frame.write.format(catalog.type).save(folder)
        else:
            raise UsageError(
                f"{table} is not in a catalog of the project",
                next_step="name a table of a catalog in setpoint.toml",
            )

    def drop(self, table: TableName) -> None:
        """Remove a copy, and what its runs have left beside it."""
        catalog = self._settings.catalogs.get(table.catalog)
        folder = None
        if catalog is not None and catalog.type == "iceberg" and catalog.warehouse is not None:
            folder = catalog.warehouse.joinpath(*table.parts[1:])
        if folder is None or not folder.is_dir():
            super().drop(table)
            return
        # Purging reads the metadata of every snapshot to find files; here they lie in one folder.
        self.spark.sql(f"DROP TABLE IF EXISTS {table.sql}")
        shutil.rmtree(folder, ignore_errors=True)

    def _build(
        self,
        task: Task,
        window: Window | None,
        moments: Moments,
        as_of: Mapping[str, str] | None = None,
    ) -> Built:
        # The task's own code runs in here, and nowhere else. It need not know of threads, and a
        # clock that is moved is moved for the whole process: one at a time.
        with self._building, ExitStack() as stack:
            for condition in self._conditions:
                stack.enter_context(condition())
            return super()._build(task, window, moments, as_of)

    def _arranged(self, query: str) -> str:
        if self._arrangement is None:
            return query
        schema = self.spark.sql(query).schema
        hashed = [quote(f.name) for f in schema.fields if _hashable(f.dataType)]
        order = f"xxhash64({', '.join([*hashed, str(self._arrangement.seed)])})"
        return f"SELECT * FROM ({query}) DISTRIBUTE BY {order} SORT BY {order}"  # noqa: S608

    def _write(self, target: Target, writing: Writing) -> None:
        if self._death == "before the write":
            raise Died
        if self._death == "while writing":
            target.write(_breaking(writing))
            raise Died  # there was no second row to break at
        target.write(writing)
        if self._death == "after the commit":
            raise Died

    def _frame(self, task: Task) -> DataFrame | None:
        target = self._target(task.target)
        if target.state() is None:
            return None
        return self.spark.sql(source_sql(target.reference(), None))


def _breaking(writing: Writing) -> Writing:
    """The same write, of rows among which one breaks when it is reached."""
    from dataclasses import replace

    frame = writing.frame
    name = frame.columns[0]
    kind = frame.schema.fields[0].dataType
    odd = F.expr("monotonically_increasing_id() % 1000 = 7 OR monotonically_increasing_id() = 1")
    broken = F.when(odd, F.raise_error(F.lit("setpoint verify: the run dies here")).cast(kind))
    return replace(writing, frame=frame.withColumn(name, broken.otherwise(F.col(quote(name)))))


def _hashable(kind: T.DataType) -> bool:
    if isinstance(kind, T.StructType):
        return all(_hashable(each.dataType) for each in kind.fields)
    if isinstance(kind, T.ArrayType):
        return _hashable(kind.elementType)
    return not isinstance(kind, (T.MapType, T.VariantType))


def _comparable(frame: DataFrame) -> DataFrame:
    return frame.select(
        *(
            F.col(quote(f.name))
            if _hashable(f.dataType)
            else F.col(quote(f.name)).cast("string").alias(f.name)
            for f in frame.schema.fields
        )
    )
