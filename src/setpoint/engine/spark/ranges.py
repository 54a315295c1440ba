"""What a backfill asks of Spark on top of single attempts: ranges found again, aside, compared."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from setpoint.engine.spark.checksum import checksum
from setpoint.engine.spark.comparing import compare
from setpoint.engine.spark.counting import counted, window_counts
from setpoint.engine.spark.inspection import refuse
from setpoint.engine.spark.postgres.moment import Moments
from setpoint.engine.spark.reading import target_kind
from setpoint.engine.spark.reconciliation import adopted
from setpoint.engine.spark.session import twin_session
from setpoint.engine.spark.translation import SPARK_ERRORS, short
from setpoint.errors import EngineFailed
from setpoint.model.scope import owned_scope, usual_kind
from setpoint.model.target import GUARANTEES
from setpoint.model.transform import source_sql
from setpoint.model.window import union
from setpoint.model.window_counts import by_stretch
from setpoint.model.write import window_column

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from pyspark.sql import SparkSession
    from typing_extensions import Self

    from setpoint.engine.protocol import Outcome, SourceChange
    from setpoint.engine.spark.engine import Built
    from setpoint.engine.spark.target import TableState, Target
    from setpoint.model.checksum import Checksum
    from setpoint.model.comparison import Comparison
    from setpoint.model.scope import ColumnKind
    from setpoint.model.settings import Settings
    from setpoint.model.table import TableName
    from setpoint.model.task import BoundSource, Task
    from setpoint.model.window import Window
    from setpoint.model.window_counts import WindowCount


@dataclass(frozen=True, kw_only=True)
class Earlier:
    """The windows of a batch before it was written."""

    windows: Sequence[Window]
    kind: ColumnKind
    scope: str
    snapshot: str | None = None
    """The snapshot that holds what stood there, where the table keeps any."""
    rows: dict[int, int] | None = None
    """The rows of each stretch of time, where it keeps none."""


class SparkRanges(ABC):
    """The part of the Spark engine that only backfills need."""

    _settings: Settings
    _say: Callable[[str], None]
    _spark: SparkSession | None
    _log: Path | None
    _inspected: set[str]

    @abstractmethod
    def __init__(self, settings: Settings, *, say: Callable[[str], None]) -> None: ...

    @property
    @abstractmethod
    def spark(self) -> SparkSession:
        """The session, started when it is first asked for."""

    @property
    @abstractmethod
    def log(self) -> Path:
        """The file that Spark logs to."""

    @abstractmethod
    def _errors(self, task: Task, window: Window | None) -> AbstractContextManager[None]: ...

    @abstractmethod
    def _zone(self, task: Task) -> AbstractContextManager[None]: ...

    @abstractmethod
    def _build(
        self,
        task: Task,
        window: Window | None,
        moments: Moments,
        as_of: Mapping[str, str] | None = None,
    ) -> Built: ...

    @abstractmethod
    def _target(self, table: TableName) -> Target: ...

    def _counter(
        self, task: Task, built: Built, windows: Sequence[Window]
    ) -> Callable[[], Mapping[str, int]] | None:
        """Counts the result by window, for a gate on the number of rows of each."""
        if not windows:
            return None
        kind = built.kinds.target or usual_kind(windows[0])
        by = window_column(task.write) or ""

        def count() -> dict[str, int]:
            found = by_stretch(windows, counted(built.frame, windows, by, kind), {})
            return {each.window.label: each.rows for each in found}

        return count

    def _earlier(
        self,
        target: Target,
        task: Task,
        windows: Sequence[Window],
        built: Built,
        state: TableState,
    ) -> Earlier | None:
        """What stood in the windows of a batch before it is written, or where that can be read."""
        if not windows:
            return None
        kind = built.kinds.target or usual_kind(windows[0])
        found = Earlier(windows=windows, kind=kind, scope=built.scope or "true")
        if GUARANTEES[task.catalog_type].history:
            return replace(found, snapshot=state.snapshot)
        frame = self.spark.sql(source_sql(target.reference(), built.scope))
        rows = counted(frame, windows, window_column(task.write) or "", kind)
        return replace(found, rows=rows)

    def _by_window(
        self, target: Target, task: Task, outcome: Outcome, earlier: Earlier
    ) -> tuple[WindowCount, ...]:
        """The rows of each window of a batch, and those that stood there before."""
        return window_counts(
            self.spark,
            target,
            outcome,
            earlier.windows,
            by=window_column(task.write) or "",
            kind=earlier.kind,
            scope=earlier.scope,
            before=earlier.snapshot,
            earlier=earlier.rows,
        )

    def find_batch(self, task: Task, windows: Sequence[Window], run_id: str) -> Outcome | None:
        """The outcome of a commit by this job in the target's history, if there is one."""
        span = union(windows)
        with self._errors(task, span), self._zone(task):
            target = self._target(task.target)
            outcome = adopted(target, task, run_id, as_of=None, opened=self._target)
            if outcome is None:
                return None
            frame = self.spark.sql(source_sql(target.reference(), None))
            kind = target_kind(frame, task)
            by = window_column(task.write) or ""
            counts = window_counts(
                self.spark,
                target,
                outcome,
                windows,
                by=by,
                kind=kind or usual_kind(span),
                scope=owned_scope(task, span, kind) or "",
                before=None,
            )
            return replace(outcome, windows=counts)

    def result_checksum(self, task: Task, window: Window) -> Checksum:
        """The checksum of what the task would write for a window; nothing is written."""
        with self._errors(task, window), self._zone(task), Moments() as moments:
            return checksum(self._build(task, window, moments).frame)

    def inspect(self, task: Task, window: Window | None) -> None:
        """Refuse hidden inputs now; the verdict holds for the task's code."""
        if task.fingerprint not in self._inspected:
            with self._errors(task, window), self._zone(task), Moments() as moments:
                refuse(task, self._build(task, window, moments).hidden)
                self._inspected.add(task.fingerprint)

    def compare(self, task: Task, other: TableName, windows: Sequence[Window]) -> Comparison:
        """How rows of windows in another table differ from those in the task's target."""
        span = union(windows)
        with self._errors(task, span), self._zone(task):
            after = self.spark.sql(source_sql(self._target(other).reference(), None))
            target = self._target(task.target)
            if target.state() is None:
                before = after.where("false")
            else:
                before = self.spark.sql(source_sql(target.reference(), None))
            kind = target_kind(after, task) or usual_kind(span)
            scope = owned_scope(task, span, kind) or "true"
            return compare(
                before.where(scope),
                after.where(scope),
                windows,
                by=window_column(task.write) or "",
                kind=kind,
                key=task.unique_key,
            )

    def drop(self, table: TableName) -> None:
        """Remove a table and its files."""
        try:
            self._target(table).drop()
        except SPARK_ERRORS as error:
            raise EngineFailed(f"{table}: {short(error)}", next_step=f"read {self.log}") from None

    def source_changes(self, source: BoundSource) -> list[SourceChange] | None:
        """The commits to a source, oldest first; None when its table keeps no history."""
        from setpoint.engine.spark.iceberg import IcebergTarget

        if source.table.catalog in self._settings.connections:
            return None
        target = self._target(source.table)
        if not isinstance(target, IcebergTarget) or target.state() is None:
            return None
        try:
            return target.changes(source.event_time)
        except SPARK_ERRORS as error:
            raise EngineFailed(
                f"{source.table}: {short(error)}", next_step=f"read {self.log}"
            ) from None

    def twin(self) -> Self:
        """Another one on the same Spark, with a session of its own, for another thread."""
        twin = type(self)(self._settings, say=self._say)
        session = twin_session(self.spark, self._settings)
        vars(twin).update(_spark=session, _log=self._log, _inspected=self._inspected)
        return twin

    def use_scheduler(self, pool: str) -> None:
        """Let the calling thread's jobs run in a pool of Spark's fair scheduler."""
        if self._settings.spark.remote:
            return  # a Connect server schedules by itself
        try:
            # The only way to a pool: no session has a setting for it.
            self.spark.sparkContext.setLocalProperty("spark.scheduler.pool", pool)
        except SPARK_ERRORS:
            # Managed Spark has sessions alone. The limit on jobs at once holds all the same.
            self._say(f"this Spark lets nobody choose a scheduler pool: {pool} is left out")

    def stop_jobs(self) -> None:
        """Interrupt what this engine is doing in another thread."""
        if self._spark is not None:
            self._spark.interruptAll()
