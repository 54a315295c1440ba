"""From a declaration to a task: every fault found, none acted upon."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from setpoint.errors import Fault, SetpointError
from setpoint.model.effect import Effect
from setpoint.model.gate import RowCountGate
from setpoint.model.grain import Grain, parse_instant
from setpoint.model.hidden_input import Allow
from setpoint.model.pattern import Choice, Undecided, choose
from setpoint.model.retry import Backoff, Retry
from setpoint.model.retry_safety import unsafe_to_retry
from setpoint.model.source import Source
from setpoint.model.table import TableName
from setpoint.model.table_folder import table_folder
from setpoint.model.target import FOLDERS, kind_of
from setpoint.model.task import BoundSource, Task
from setpoint.model.transform import PythonTransform
from setpoint.model.write import Merge, Overwrite, Replace
from setpoint.project.fingerprint import fingerprint
from setpoint.project.unguarded import unguarded_effects

if TYPE_CHECKING:
    from collections.abc import Callable

    from setpoint.model.retry_safety import Proof
    from setpoint.model.settings import Settings
    from setpoint.project.declaration import Declaration

    ProofOf = Callable[[Settings, str, str], Proof | None]

# What a decorator may be given by mistake; a SQL header is checked when it is read.
SHAPES: dict[str, tuple[type | tuple[type, ...], str]] = {
    "target": (str, "text"),
    "grain": ((str, type(None)), "text"),
    "timezone": (str, "text"),
    "partition_by": ((str, type(None)), "a column's name"),
    "unique_key": ((str, list, tuple), "a column or a list of columns"),
    "sources": (Mapping, "a mapping from names to Source(…)"),
    "checks": (Mapping, "a mapping from names to conditions"),
    "min_rows": ((int, type(None)), "a whole number"),
    "max_rows": ((int, type(None)), "a whole number"),
    "retries": (int, "a whole number"),
    "backoff": ((Backoff, type(None)), "a Backoff(…)"),
    "allow": ((Mapping, list, tuple), "a list of Allow(…)"),
    "effects": ((list, tuple), "a list of effects"),
    "development_date": ((str, type(None)), "a date as text"),
}
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_\-]*\Z")
ASKABLE = ("window", "spark")
DATABASE_PARTS = 3
DATABASE_NAME = 63
NAMED = "write it as connection.schema.table, e.g. mart.public.orders"


def resolve(
    declaration: Declaration,
    settings: Settings,
    *,
    allow_unsafe_retry: bool = False,
    proof: ProofOf | None = None,
) -> tuple[Task | None, list[Fault]]:
    """Understand what a task declares; its faults, if it has any.

    `proof` looks up what is proven of a task by its name and fingerprint; it is asked only for a
    task with retries.
    """
    resolving = _Resolving(
        declaration, settings, allow_unsafe_retry=allow_unsafe_retry, proof_of=proof
    )
    task = resolving.task()
    return (None if resolving.faults else task), resolving.faults


@dataclass
class _Resolving:
    declaration: Declaration
    settings: Settings
    allow_unsafe_retry: bool = False
    proof_of: ProofOf | None = None
    faults: list[Fault] = field(default_factory=list)

    def task(self) -> Task | None:
        given = self.declaration
        self.shapes()
        if self.faults:
            return None
        if not NAME.match(given.name):
            self.fault(f"{given.name!r} cannot be a task's name", "use letters, digits, _ and -")
        target = self.table(given.target, "target")
        grain = self.grain()
        key = (given.unique_key,) if isinstance(given.unique_key, str) else tuple(given.unique_key)
        if not all(isinstance(column, str) and column for column in key):
            self.fault(f"unique_key {given.unique_key!r} is not a list of columns")
        sources = self.sources(grain)
        choice = self.choice(target, grain, key)
        if choice and isinstance(choice.write, Merge):
            key = choice.write.on
        self.partition(choice, grain, self.catalog_type(target))
        self.parameters()
        rows = self.rows()
        retry = self.retry()
        allow = self.allow()
        self.retry_safety(target, allow)
        self.late(grain)
        effects = self.effects(choice)
        date = given.development_date or self.settings.development_date
        if given.development_date and grain:
            self.date(given.development_date, grain)
        if self.faults or target is None or choice is None:
            return None
        return Task(
            name=given.name,
            target=target,
            grain=grain,
            choice=choice,
            transform=given.transform,
            path=given.path.relative_to(self.settings.root),
            line=given.line,
            fingerprint=fingerprint(given, self.settings.root),
            description=given.description,
            unique_key=key,
            sources=sources,
            checks=dict(given.checks),
            rows=rows,
            retry=retry,
            allow=allow,
            lookback=given.lookback,
            late=given.late,
            effects=effects,
            development_date=date,
            catalog_type=self.catalog_type(target),
        )

    def catalog_type(self, target: TableName | None) -> str:
        return (target and kind_of(self.settings, target.catalog)) or "iceberg"

    def shapes(self) -> None:
        for field_name, (kinds, words) in SHAPES.items():
            value = getattr(self.declaration, field_name)
            if not isinstance(value, kinds) or isinstance(value, bool):
                self.fault(f"{field_name} must be {words}, found {value!r}")

    def date(self, text: str, grain: Grain) -> None:
        try:
            parse_instant(text, zone=grain.zone)
        except SetpointError as error:
            self.fault(f"development_date: {error.message}", error.next_step)

    def grain(self) -> Grain | None:
        given = self.declaration
        if given.grain is None:
            return None
        try:
            return Grain.parse(given.grain, zone=given.timezone)
        except SetpointError as error:
            self.fault(error.message, error.next_step)
            return None

    def sources(self, grain: Grain | None) -> tuple[BoundSource, ...]:
        bound = []
        for name, source in self.declaration.sources.items():
            if not isinstance(source, Source):
                self.fault(f"source {name!r} is not a Source", 'Source("lake.shop.orders", …)')
                continue
            table = self.table(source.table, f"source {name!r}")
            if not isinstance(source.event_time, (str, type(None))):
                self.fault(
                    f"event_time of source {name!r} must be a column's name, "
                    f"found {source.event_time!r}"
                )
            elif not source.static and source.event_time is None:
                self.fault(
                    f"source {name!r} has no event_time to bound it by",
                    'give event_time="…", or static=True if it is a lookup read whole',
                )
            elif source.static and source.event_time:
                self.fault(f"source {name!r} is static and has an event_time", "keep one of them")
            elif source.event_time and grain is None and self.declaration.grain is None:
                self.fault(
                    f"source {name!r} has an event_time, but the task has no grain to bound it by",
                    'add grain="day", or read it whole with static=True',
                )
            if source.arrival_time and not source.event_time:
                self.fault(
                    f"source {name!r} has an arrival_time and no event_time",
                    'give event_time="…" too: late is what arrived after its window',
                )
            if table:
                bound.append(BoundSource.of(name, source, table))
        return tuple(bound)

    def choice(
        self, target: TableName | None, grain: Grain | None, key: tuple[str, ...]
    ) -> Choice | None:
        given = self.declaration
        if given.write is not None and not isinstance(given.write, (Overwrite, Merge, Replace)):
            self.fault(f"write {given.write!r} is not a pattern", 'write=overwrite(by="…")')
            return None
        if isinstance(given.write, Overwrite) and not isinstance(given.write.by, str):
            self.fault(f"overwrite by {given.write.by!r}: no column", 'overwrite(by="order_date")')
            return None
        if isinstance(given.write, Merge) and not given.write.on:
            self.fault("merge has no key", 'write=merge(on=["customer_id"], version="updated_at")')
            return None
        kind = kind_of(self.settings, target.catalog) if target else None
        chosen = choose(
            stated=given.write,
            windowed=grain is not None or given.grain is not None,
            partition_by=given.partition_by,
            key=key,
            version=given.version,
            kind=kind or "iceberg",
        )
        if isinstance(chosen, Undecided):
            self.fault(chosen.reason, chosen.fix)
            return None
        return chosen

    def partition(self, choice: Choice | None, grain: Grain | None, catalog_type: str) -> None:
        """A cadence finer than the partition: each run would wipe what the others wrote (E2)."""
        write = choice.write if choice else None
        if not isinstance(write, Overwrite) or grain is None:
            return
        length = write.partition
        if catalog_type == "parquet":
            if length not in (None, "day"):
                self.fault(f"partition {length!r}: a Parquet table has one folder for each day")
            length = "day"
        if length is None:
            return
        try:
            partition = Grain.parse(length, zone=grain.zone)
        except SetpointError as error:
            self.fault(f"partition: {error.message}", error.next_step)
            return
        if partition.coarser_than(grain):
            self.fault(
                f"the grain ({grain}) is finer than the partition ({partition}): each run would "
                f"replace the whole {partition} with one {grain} of rows",
                f"use grain={length!r}, or partition the table by {grain}",
            )

    def parameters(self) -> None:
        transform = self.declaration.transform
        if not isinstance(transform, PythonTransform):
            return
        known = [*self.declaration.sources, *ASKABLE]
        for parameter in transform.parameters:
            if parameter not in known:
                near = difflib.get_close_matches(parameter, known, n=1)
                self.fault(
                    f"the function asks for {parameter!r}, which is no source",
                    f"did you mean {near[0]!r}?" if near else f"it may ask for {', '.join(known)}",
                )
        for name in self.declaration.sources:
            if name not in transform.parameters:
                self.fault(
                    f"source {name!r} is not a parameter of the function", "add or remove it"
                )

    def rows(self) -> RowCountGate | None:
        least, most = self.declaration.min_rows, self.declaration.max_rows
        if least is None and most is None:
            return None
        if (least or 0) < 0 or (most is not None and most < (least or 0)):
            self.fault(f"min_rows={least} and max_rows={most} leave no room", "check the limits")
        return RowCountGate(least=least, most=most)

    def retry(self) -> Retry:
        given = self.declaration
        backoff = given.backoff or Backoff()
        if given.retries < 0:
            self.fault(f"retries must be 0 or more, found {given.retries!r}")
        # Written so that NaN, which compares as false, is refused too.
        lengths = backoff.first >= 0 and backoff.longest >= 0 and backoff.factor >= 1
        if not lengths or not 0 <= backoff.jitter <= 1:
            self.fault(
                f"{backoff!r} makes no sense",
                "first and longest ≥ 0, factor ≥ 1, jitter from 0 to 1",
            )
        return Retry(retries=given.retries, backoff=backoff)

    def retry_safety(self, target: TableName | None, allow: tuple[Allow, ...]) -> None:
        """Automatic retries only for what is known to be idempotent (F2)."""
        kind = kind_of(self.settings, target.catalog) if target else None
        if not self.declaration.retries or self.allow_unsafe_retry:
            return
        transform = self.declaration.transform
        acts = (
            unguarded_effects(transform.function) if isinstance(transform, PythonTransform) else []
        )
        proof = None
        if self.proof_of is not None and not self.faults:
            code = fingerprint(self.declaration, self.settings.root)
            proof = self.proof_of(self.settings, self.declaration.name, code)
        for unsafe in unsafe_to_retry(
            self.declaration.name, allow=allow, kind=kind or "", unguarded=acts, proof=proof
        ):
            self.fault(
                f"retries={self.declaration.retries}, but {unsafe.reason}",
                f"{unsafe.fix}; or retries=0; or run with --allow-unsafe-retry",
            )

    def late(self, grain: Grain | None) -> None:
        given = self.declaration
        if not isinstance(given.lookback, int) or given.lookback < 0:
            self.fault(f"lookback must be 0 or more, found {given.lookback!r}")
        elif given.lookback and grain is None:
            self.fault("lookback reopens windows, and the task has no grain", 'add grain="day"')
        if given.late is None:
            return
        if given.late != "exclude":
            self.fault(f"late {given.late!r} is not a policy", 'late="exclude", or lookback=3')
        elif given.lookback:
            self.fault("late rows are either reopened or excluded", "keep lookback or late")
        elif not any(getattr(s, "arrival_time", None) for s in given.sources.values()):
            self.fault(
                'late="exclude" cannot tell which rows are late',
                'give the source the column: Source(…, event_time="…", arrival_time="loaded_at")',
            )

    def effects(self, choice: Choice | None) -> tuple[Effect, ...]:
        given = self.declaration.effects
        names: set[str] = set()
        for effect in given:
            if not isinstance(effect, Effect):
                self.fault(f"{effect!r} is not an effect", 'effects=[email("report", …)]')
                continue
            if effect.name in names:
                self.fault(f"two effects are called {effect.name!r}", "give each its own name")
            names.add(effect.name)
            # A merged table does not say which of its rows a window brought.
            if choice and isinstance(choice.write, Merge) and not effect.where:
                self.fault(
                    f"effect {effect.name}: a merge owns no window of its table, so the effect "
                    "would be sent for all of its rows",
                    'say which: where="updated_at >= :window_start AND updated_at < :window_end"',
                )
        return tuple(given) if not self.faults else ()

    def allow(self) -> tuple[Allow, ...]:
        given = self.declaration.allow
        allowed = (
            [Allow(function, reason) for function, reason in given.items()]
            if isinstance(given, Mapping)
            else list(given)
        )
        for entry in allowed:
            if not isinstance(entry, Allow) or not str(entry.reason or "").strip():
                self.fault(
                    f"allow {entry!r} gives no reason",
                    'allow=[Allow("current_timestamp", "fills loaded_at only")]',
                )
        return tuple(entry for entry in allowed if isinstance(entry, Allow))

    def table(self, text: str, role: str) -> TableName | None:
        try:
            table = TableName.parse(text)
        except SetpointError as error:
            self.fault(f"{role}: {error.message}", error.next_step)
            return None
        known = [*self.settings.catalogs, *self.settings.connections]
        if table.catalog not in known:
            near = difflib.get_close_matches(table.catalog, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
            self.fault(f"{role} {text!r}: setpoint.toml has no catalog {table.catalog!r}", hint)
        elif table.catalog in self.settings.connections:
            self.database_table(table, role)
        elif self.settings.catalogs[table.catalog].type in FOLDERS:
            try:
                table_folder(self.settings.root, table)
            except SetpointError as error:
                self.fault(f"{role}: {error.message}", error.next_step)
        return table

    def database_table(self, table: TableName, role: str) -> None:
        """A database has one level of schemas, and cuts longer names without a word."""
        if len(table.parts) != DATABASE_PARTS:
            self.fault(f"{role} {table}: a table of a database has a schema and a name", NAMED)
        elif any(len(part.encode()) > DATABASE_NAME for part in table.parts[1:]):
            self.fault(f"{role} {table}: a database's names have at most {DATABASE_NAME} bytes")

    def fault(self, message: str, fix: str | None = None) -> None:
        given = self.declaration
        self.faults.append(
            Fault(
                path=given.path.relative_to(self.settings.root),
                line=given.line,
                message=f"task {given.name}: {message}",
                fix=fix,
            )
        )
