"""What one file says, as data: units of work, their writes, hidden inputs and effects, in order."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from setpoint.auditing.finding import Unparsed


@dataclass(frozen=True, kw_only=True)
class Spot:
    """Where something stands: lines count from 1, `start` and `end` are character offsets or -1."""

    line: int
    end_line: int
    start: int = -1
    end: int = -1


class How(str, Enum):
    """What a write does to the rows that were there."""

    APPEND = "append"
    OVERWRITE = "overwrite"
    DYNAMIC = "dynamic-overwrite"
    UPSERT = "upsert"
    MERGE = "merge"
    UPDATE = "update"
    DELETE = "delete"
    TRUNCATE = "truncate"
    DROP = "drop"
    CREATE = "create"
    STREAM = "stream"


@dataclass(frozen=True, kw_only=True)
class Write:
    """One statement or call that changes a table, a path or a collection."""

    how: How
    table: str
    """Lower case, as fully named as the code says; empty when it could not be told."""
    spot: Spot
    language: str = "sql"
    """sql, spark, pandas, warehouse, database, dbt, files."""
    dialect: str = ""
    rows: str = "select"
    """Where the rows come from: select, literals, parameters, frame, files."""
    guard: str = ""
    """Why doing it again changes nothing, in words; empty when nothing says so."""
    temporary: bool = False
    scope: str = ""
    """Normalised row filter of a delete, or partition of an overwrite."""
    scope_columns: tuple[str, ...] = ()
    dedupes: bool = False
    """A delete of rows that the table holds twice."""
    retention: bool = False
    """A delete of what is older than a clock: housekeeping, no scope of a run."""
    transaction: int = 0
    """Writes of one non-zero number commit together."""
    keys: tuple[str, ...] = ()
    key_problem: str = ""
    """Why the key of a merge or upsert cannot be trusted."""
    reduced: bool = True
    """Whether a merge's source holds one row a key, as far as the code says."""
    counter: str = ""
    """The column that is raised by its own old value."""
    columns: tuple[str, ...] = ()
    serial: str = ""
    """A column of a created table that numbers itself."""
    serial_start: int = -1
    serial_spot: Spot | None = None
    grain: str = ""
    """The length of the partition that is replaced: hour, day, month."""
    source_filter: str = ""
    """The filters of the query that gives the rows."""
    source_grain: str = ""
    """The shortest slice that those filters name."""
    looped: bool = False
    batched: bool = False
    """Inside a foreachBatch function."""
    exact: str = ""
    """The text of the call or statement, shortened, for the fix."""


class Source(str, Enum):
    """The kinds of hidden input."""

    CLOCK = "clock"
    RANDOM = "random"
    UUID = "uuid"
    SEQUENCE = "sequence"
    ROW_NUMBER = "row-number"
    ENVIRONMENT = "environment"


@dataclass(frozen=True, kw_only=True)
class Draw:
    """A value that differs from run to run, and what it decides."""

    source: Source
    role: str
    """filter, join, partition, name, path, window, cursor, default, audit, value, key, limit."""
    spot: Spot
    text: str
    column: str = ""
    table: str = ""
    language: str = "sql"
    dialect: str = ""


@dataclass(frozen=True, kw_only=True)
class Effect:
    """Something done to the outside world."""

    kind: str
    """mail, chat, post, publish."""
    spot: Spot
    text: str
    guard: str = ""
    own: bool = False
    """Sent to an address that the surrounding object was made with."""


@dataclass(frozen=True, kw_only=True)
class Unit:
    """A file, model, task or function: what is run, retried and judged as one."""

    name: str
    kind: str
    line: int
    end_line: int
    writes: tuple[Write, ...] = ()
    draws: tuple[Draw, ...] = ()
    effects: tuple[Effect, ...] = ()
    reads: tuple[str, ...] = ()
    dag: str = ""
    task: str = ""
    callable: str = ""
    retries: int = 0
    retries_spot: Spot | None = None
    logical_date: bool = False
    """Whether it uses the orchestrator's date, window or partition."""
    alert: bool = False
    """Runs only after a failure."""
    grain: str = ""
    """How far apart its own runs or partitions lie, when no DAG says it."""
    extracts: bool = False
    """Reads data from somewhere: a file, an API, a query."""
    opaque: str = ""
    """What it runs that is not in view, such as a command of the shell."""
    calls: tuple[str, ...] = ()
    """Imported functions that it leaves work to, by their dotted names."""
    incremental: str = ""
    """For dbt: the effective strategy of an incremental model."""
    config_spot: Spot | None = None


@dataclass(frozen=True, kw_only=True)
class Dag:
    """An orchestrated graph, as its file says it."""

    name: str
    spot: Spot
    grain: str = ""
    """How far apart two runs lie: minute, hour, day, week, month; empty when not known."""
    scheduled: bool = False
    catchup: bool | None = None
    catchup_spot: Spot | None = None
    moving_start: Spot | None = None
    edges: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Ignore:
    """A comment that excuses findings of some rules on its line, or on the next line of code."""

    spot: Spot
    rules: tuple[str, ...]
    reason: str
    covers: tuple[int, int]
    """The first and last line that it speaks for."""


@dataclass(frozen=True, kw_only=True)
class FileFacts:
    """All that was read from one file; pure data that can be pickled and cached."""

    path: str
    kind: str
    """sql, dbt, python, notebook, or empty when nothing in it is a pipeline."""
    setting: str = "pipeline"
    """pipeline, application, schema, test, sample: what kind of code the file is."""
    dialect: str = ""
    units: tuple[Unit, ...] = ()
    dags: tuple[Dag, ...] = ()
    unparsed: tuple[Unparsed, ...] = ()
    ignores: tuple[Ignore, ...] = field(default=())
    constants: tuple[tuple[str, str], ...] = ()
    """Short texts that a module names, for the modules that import them."""
    imports: tuple[tuple[str, str], ...] = ()
    """Imported names that tables are called by here, with the dotted names they stand for."""
