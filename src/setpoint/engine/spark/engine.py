"""The Spark engine: one attempt of a task from sources to commit."""

from __future__ import annotations

import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from setpoint.engine.spark.checksum import checksum
from setpoint.engine.spark.gating import check_rows, diagnose, gated
from setpoint.engine.spark.inspection import inspect, plan_text, printed_plan, refuse
from setpoint.engine.spark.merging import diagnose_tie, marked, reduced, stored, tie_stop
from setpoint.engine.spark.plan_cost import bytes_read
from setpoint.engine.spark.plan_text import cheap_to_repeat, grouped_by
from setpoint.engine.spark.postgres.moment import Moments
from setpoint.engine.spark.ranges import SparkRanges
from setpoint.engine.spark.reading import (
    bounded_sources,
    check_kind,
    late_rows,
    late_warnings,
    live_tables,
    source_kinds,
    source_schemas,
    source_tables,
    table_key,
    target_kind,
)
from setpoint.engine.spark.reconciliation import adopted, repaired, standing_late, took_place
from setpoint.engine.spark.rows import committed_rows
from setpoint.engine.spark.session import open_session
from setpoint.engine.spark.tables import SparkTables
from setpoint.engine.spark.target import (
    Writing,
    check_columns,
    open_source,
    open_target,
)
from setpoint.engine.spark.transforming import transformed
from setpoint.engine.spark.translation import (
    SPARK_ERRORS,
    GateFired,
    is_unknown,
    translate,
)
from setpoint.errors import EngineFailed, GateFailed, RunError
from setpoint.failpoint import failpoint
from setpoint.model.analysis import Analysis
from setpoint.model.gate import TieGate, UniqueGate
from setpoint.model.plan import WHOLE_TABLE
from setpoint.model.scope import Kinds, owned_scope
from setpoint.model.target import kind_of
from setpoint.model.transform import source_sql
from setpoint.model.window import union
from setpoint.model.write import Merge

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from setpoint.engine.commit_mark import LateCommit
    from setpoint.engine.protocol import LateRows, Outcome, Token
    from setpoint.engine.spark.plan_text import PlanText
    from setpoint.engine.spark.target import TableState, Target
    from setpoint.model.hidden_input import HiddenInputFound
    from setpoint.model.settings import Settings
    from setpoint.model.table import TableName
    from setpoint.model.task import BoundSource, Task
    from setpoint.model.window import Window

CANCEL_SECONDS = 5.0


@dataclass(frozen=True, kw_only=True)
class Built:
    """A task's result on one window, planned but not computed."""

    frame: DataFrame
    scope: str | None
    kinds: Kinds
    plan: PlanText
    hidden: tuple[HiddenInputFound, ...]
    tables: Mapping[str, str]
    schemas: Mapping[str, StructType]
    inputs: Mapping[str, str]
    """The snapshot of each table that is read, by its name."""


class SparkEngine(SparkRanges, SparkTables):
    """Runs tasks on Spark; the session starts at first use."""

    def __init__(self, settings: Settings, *, say: Callable[[str], None]) -> None:
        self._settings = settings
        self._say = say
        self._spark: SparkSession | None = None
        self._log: Path | None = None
        self._inspected: set[str] = set()
        self._attempt: Token | None = None

    def start(self) -> None:
        """Start the session if it is not started yet."""
        if self._spark is None:
            self._say("starting Spark")
            self._spark, self._log = open_session(self._settings, say=self._say)

    @property
    def spark(self) -> SparkSession:
        """The session, started when it is first asked for."""
        self.start()
        if self._spark is None:
            raise EngineFailed("Spark has not been started")
        return self._spark

    @property
    def log(self) -> Path:
        """The file that Spark logs to."""
        if self._log is None:
            raise EngineFailed("Spark has not been started")
        return self._log

    def carry_out(
        self,
        task: Task,
        window: Window | None,
        token: Token,
        *,
        as_of: Mapping[str, str] | None = None,
    ) -> Outcome:
        """Run the task and set its scope in one commit that carries the token."""
        return self._carry_out(task, window, token, as_of=as_of)

    def carry_out_batch(self, task: Task, windows: Sequence[Window], token: Token) -> Outcome:
        """Set contiguous windows in one commit, with a count for each of them."""
        return self._carry_out(task, union(windows), token, windows=windows)

    def _carry_out(
        self,
        task: Task,
        window: Window | None,
        token: Token,
        *,
        as_of: Mapping[str, str] | None = None,
        windows: Sequence[Window] = (),
    ) -> Outcome:
        placed = self._errors(task, window)
        self._attempt = token
        with placed, self._zone(task), Moments() as moments:
            failpoint("read.before")
            built = self._build(task, window, moments, as_of)
            failpoint("read.after")
            warnings = refuse(task, built.hidden)
            self._inspected.add(task.fingerprint)
            target = self._target(task.target)
            state = self._prepared(target, task, stored(built.frame, task))
            check_kind(task, window, state.columns)
            failpoint("gate.before")
            check_rows(built.frame, task.gates, counts=self._counter(task, built, windows))
            failpoint("gate.after")
            frame = self._gated(task, built, state)
            late = self._late(task, window, built)
            writing = Writing(
                task=task,
                frame=frame,
                scope=built.scope,
                token=token,
                state=state,
                window=window,
                batched=len(windows) > 1,
                cheap=cheap_to_repeat(built.plan),
                kinds=built.kinds,
                inputs=built.inputs,
            )
            size = bytes_read(printed_plan(built.frame, "cost")) if windows else None
            earlier = self._earlier(target, task, windows, built, state)
            failpoint("write.before")
            try:
                self._write(target, writing)
            except SPARK_ERRORS as error:
                # Whether a commit took place whose answer was lost is looked up, never guessed.
                if not (is_unknown(error) and took_place(target, token)):
                    raise self._explained(error, task, built) from None
            except GateFailed as error:
                raise self._repeated(task, built, state) or error from None
            failpoint("write.after")
            outcome = target.commit(token.run_id)
            failpoint("confirm.after")
            if outcome is None:
                raise EngineFailed(
                    "the commit is not in the table's history",
                    next_step=f"setpoint run --select {task.name} sets the window again",
                )
            if earlier is not None:
                counts = self._by_window(target, task, outcome, earlier)
                outcome = replace(outcome, windows=counts, bytes_read=size)
            return replace(
                outcome,
                inputs=built.inputs,
                kinds=built.kinds,
                warnings=(*warnings, *late_warnings(late), *repaired(target, task, token)),
                late=late,
            )

    def find_commit(
        self, task: Task, run_id: str, *, as_of: Mapping[str, str] | None = None
    ) -> Outcome | None:
        """The outcome of a commit by this run that a run now would repeat, if there is one."""
        with self._errors(task, None):
            target = self._target(task.target)
            return adopted(target, task, run_id, as_of=as_of, opened=self._target)

    def late_commits(self, task: Task) -> list[LateCommit]:
        """The commits to the task's table that came late and still stand."""
        with self._errors(task, None):
            target = self._target(task.target)
            return standing_late(target, task) if target.exists() else []

    def highest_fence(self, task: Task) -> int:
        """The highest fence in the history of the task's target; 0 when it has none."""
        with self._errors(task, None):
            target = self._target(task.target)
            return target.highest_fence() if target.exists() else 0

    def cancel(self, token: Token) -> None:
        """Stop the Spark jobs of an attempt, from any thread; quietly when there are none."""
        spark = self._spark
        if spark is None or self._attempt != token:
            return

        def interrupt() -> None:
            # All of this session's: an engine makes one attempt at a time, twins have their own.
            with suppress(*SPARK_ERRORS):
                spark.interruptAll()

        # In a thread of its own, which talks to the JVM by a connection of its own: that of the
        # caller may be in the middle of the very call that is to be stopped.
        thread = threading.Thread(target=interrupt, daemon=True)
        thread.start()
        thread.join(CANCEL_SECONDS)

    def checksum(self, task: Task, window: Window | None, snapshot: str | None) -> str:
        """The content checksum of the scope as it stands in the target."""
        with self._errors(task, window), self._zone(task):
            frame = self.spark.sql(source_sql(self._target(task.target).reference(snapshot), None))
            scope = owned_scope(task, window, target_kind(frame, task))
            return str(checksum(frame.where(scope) if scope else frame))

    def rows(
        self,
        task: Task,
        window: Window | None,
        snapshot: str | None,
        *,
        where: str | None = None,
        summary: Mapping[str, str] | None = None,
        order: Sequence[str] = (),
        limit: int,
    ) -> list[dict[str, Any]]:
        """The rows of the scope as committed, as plain values: at most `limit`, in `order`."""
        with self._errors(task, window), self._zone(task):
            table = self._target(task.target).reference(snapshot)
            columns = self.spark.sql(source_sql(table, None))
            scope = owned_scope(task, window, target_kind(columns, task))
            return committed_rows(
                self.spark,
                table,
                [part for part in (scope, where) if part],
                window=window,
                summary=summary or {},
                order=order,
                limit=limit,
            )

    def analyse(self, task: Task, window: Window | None) -> Analysis:
        """Everything up to the write, without writing."""
        with self._errors(task, window), self._zone(task), Moments() as moments:
            built = self._build(task, window, moments)
            return Analysis(
                columns={f.name: f.dataType.simpleString() for f in built.frame.schema.fields},
                kinds=built.kinds,
                hidden=built.hidden,
                inputs=built.inputs,
            )

    def _build(
        self,
        task: Task,
        window: Window | None,
        moments: Moments,
        as_of: Mapping[str, str] | None = None,
    ) -> Built:
        """The task's result, planned on snapshots that can be named afterwards."""
        if as_of is not None:
            return self._planned(task, window, moments, as_of, replayed=True)
        # Delta's plans do not say which version they read: it is chosen beforehand.
        pins = self._current(s for s in task.sources if self._kind(s) == "delta")
        built = self._planned(task, window, moments, pins)
        unseen = [
            source
            for source in task.sources
            if self._kind(source) == "iceberg" and table_key(source) not in built.inputs
        ]
        if not unseen or not (found := self._current(unseen)):
            return built
        # Spark answered from the table's metadata, which the plan does not show: fix what is read.
        again = self._planned(task, window, moments, {**pins, **found})
        # Iceberg reads a snapshot with the columns of its time.
        return again if again.schemas == built.schemas else built

    def _kind(self, source: BoundSource) -> str | None:
        return kind_of(self._settings, source.table.catalog)

    def _current(self, sources: Iterable[BoundSource]) -> dict[str, str]:
        """The snapshot that each table stands at, where it has one."""
        states = {table_key(source): self._target(source.table).state() for source in sources}
        return {name: s.snapshot for name, s in states.items() if s and s.snapshot is not None}

    def _planned(
        self,
        task: Task,
        window: Window | None,
        moments: Moments,
        pins: Mapping[str, str],
        *,
        replayed: bool = False,
    ) -> Built:
        bounded: set[str] = set()

        def reference(source: BoundSource, snapshot: str | None) -> str:
            snapshot = snapshot or pins.get(table_key(source))
            if snapshot is not None:
                return self._target(source.table).reference(snapshot)
            # Late rows lie outside of the window, and are asked for later.
            within = None if source.arrival_time else window
            opened, already = open_source(self.spark, self._settings, source, within, moments)
            bounded.update({source.name} if already else ())
            return opened

        named = source_tables(task, reference, pins if replayed else None)
        schemas = source_schemas(self.spark, task, named)
        sources = source_kinds(task, schemas)
        tables = live_tables(named, schemas)
        bounded_queries = bounded_sources(task, window, tables, sources, already=bounded)
        queries = {name: self._arranged(query) for name, query in bounded_queries.items()}

        def build() -> DataFrame:
            return transformed(self.spark, task, window, queries)

        frame = build()
        plan = plan_text(frame)
        # The verdict on Python's clock holds for the code; once a process is enough.
        rebuild = None if task.fingerprint in self._inspected else build
        kinds = Kinds(target=target_kind(frame, task), sources=sources)
        return Built(
            frame=frame,
            scope=owned_scope(task, window, kinds.target),
            kinds=kinds,
            plan=plan,
            hidden=inspect(task, plan, rebuild),
            tables=tables,
            schemas=schemas,
            inputs={**plan.snapshots, **pins},
        )

    def _arranged(self, query: str) -> str:
        """The query by which a bounded source is read; a verification reads it in other orders."""
        return query

    def _write(self, target: Target, writing: Writing) -> None:
        """Set the scope; a verification stops here on purpose."""
        target.write(writing)

    def _late(self, task: Task, window: Window | None, built: Built) -> dict[str, LateRows]:
        """The late rows of each source, when the task wants to hear of them."""
        if task.late is None or window is None:
            return {}
        found = {
            s.name: late_rows(self.spark, s, built.tables[s.name], built.schemas[s.name], window)
            for s in task.sources
        }
        return {name: late for name, late in found.items() if late is not None}

    def _gated(self, task: Task, built: Built, state: TableState) -> DataFrame:
        """The rows to write, with every gate built in; one row a key for a merge."""
        proven = bool(task.unique_key) and grouped_by(built.plan, task.unique_key)
        if not isinstance(task.write, Merge):
            # A unique index refuses within the write too, and needs no shuffle of all rows.
            proven = proven or state.keeps_unique(task.unique_key)
            return gated(built.frame, task.gates, built.scope, unique=proven)
        # Gates on single rows come first: they ask what the task said, before deletes are marked.
        frame = marked(gated(built.frame, task.gates, None, unique=True), task.write)
        return frame if proven else reduced(frame, task.write, tie_stop(task))

    def _prepared(self, target: Target, task: Task, frame: DataFrame) -> TableState:
        state = target.state()
        if state is None:
            failpoint("create.before")
            target.create(frame, task)
            failpoint("create.after")
            state = target.state()
        if state is None:
            raise EngineFailed("the table was created and is not there")
        check_columns(task.target, frame, state)
        return state

    def _target(self, table: TableName) -> Target:
        return open_target(self.spark, self._settings, table)

    def _repeated(self, task: Task, built: Built, state: TableState) -> GateFailed | None:
        """The keys that a result has twice, when the table's own index was left to find them."""
        if isinstance(task.write, Merge) or not state.keeps_unique(task.unique_key):
            return None
        found = diagnose(
            built.frame, UniqueGate(columns=task.unique_key), built.scope, task.unique_key
        )
        return found if found.samples else None

    def _explained(self, error: Exception, task: Task, built: Built) -> Exception:
        translated = translate(error, log=self.log)
        if isinstance(translated, GateFired):
            gate = task.gates[translated.gate]
            if isinstance(task.write, Merge) and isinstance(gate, TieGate):
                table = self.spark.sql(source_sql(self._target(task.target).reference(), None))
                return diagnose_tie(marked(built.frame, task.write), task.write, table)
            return diagnose(built.frame, gate, built.scope, task.unique_key)
        return translated

    @contextmanager
    def _errors(self, task: Task, window: Window | None) -> Iterator[None]:
        """Say on which task, window and table something failed, in Setpoint's words."""
        try:
            yield
        except RunError as error:
            raise self._placed(error, task, window) from None
        except SPARK_ERRORS as error:
            translated = translate(error, log=self.log)
            if isinstance(translated, GateFired):
                raise
            raise self._placed(translated, task, window) from None

    def _placed(self, error: RunError, task: Task, window: Window | None) -> RunError:
        label = window.label if window else WHOLE_TABLE
        return error.on(task=task.name, window=label, table=str(task.target))

    @contextmanager
    def _zone(self, task: Task) -> Iterator[None]:
        """Let `to_date` and the like use the zone in which the task's days begin."""
        zone = task.grain.zone if task.grain else "UTC"
        self.spark.conf.set("spark.sql.session.timeZone", zone)
        stopped = False
        try:
            yield
        except KeyboardInterrupt:
            stopped = True  # the JVM is still busy, and would answer no word before it is done
            raise
        finally:
            if not stopped:
                self.spark.conf.set("spark.sql.session.timeZone", "UTC")
