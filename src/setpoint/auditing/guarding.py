"""Whether an append is made harmless by what came before it in the same unit or DAG."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

from setpoint.auditing import naming
from setpoint.auditing.facts import How
from setpoint.auditing.world import lasting

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from setpoint.auditing.facts import Write
    from setpoint.auditing.world import Case


class Outcome(str, Enum):
    """What running the append twice does."""

    GUARDED = "guarded"
    TORN = "torn"
    """Deleted before, but a crash between leaves the scope empty."""
    DOUBLED = "doubled"
    OPEN = "open"
    """What becomes of it is not decided here."""


@dataclass(frozen=True, kw_only=True)
class Append:
    """An append and what becomes of it."""

    write: Write
    outcome: Outcome
    delete: Write | None = None
    reason: str = ""


_MAKES = frozenset({How.DROP, How.CREATE, How.OVERWRITE})
_CLEARS = frozenset({How.TRUNCATE, How.DROP, How.OVERWRITE, How.DYNAMIC})
_ETL_WORDS = frozenset(
    [
        "etl",
        "elt",
        "load",
        "loader",
        "loading",
        "ingest",
        "ingestion",
        "ingester",
        "extract",
        "extraction",
        "pipeline",
        "pipelines",
        "sync",
        "import",
        "importer",
        "scrape",
        "scraper",
        "scraping",
        "crawl",
        "crawler",
        "transform",
        "dag",
        "dags",
        "job",
        "jobs",
        "batch",
        "backfill",
        "collect",
        "collector",
        "fetch",
        "fetcher",
        "migrate",
        "copy",
        "transfer",
        "warehouse",
        "staging",
        "populate",
        "insert",
        "feed",
        "harvest",
        "spider",
        "update",
        "daily",
        "hourly",
        "nightly",
        "tasks",
        "task",
        "flow",
        "flows",
        "stream",
        "streaming",
        "consumer",
        "upload",
        "uploader",
        "download",
        "downloader",
        "process",
        "processor",
        "writer",
        "sink",
    ]
)


_KEEPERS = frozenset(
    {
        "cache", "catalog", "db", "database", "history", "journal", "lease", "lock", "persistence",
        "queue", "registry", "repository", "runtime", "session", "state", "storage", "store",
    }
)  # fmt: skip
"""Modules that keep an application's own records, one by one."""
_METHOD_PARTS = 3
_OPERATOR = "airflow-operator"
_BLOCK_WORDS = frozenset(
    {
        "adapter", "adapters", "backend", "backends", "client", "clients", "connector",
        "connectors", "contrib", "destination", "destinations", "driver", "drivers", "framework",
        "helper", "helpers", "hook", "hooks", "integrations", "lib", "libs", "provider",
        "providers", "sdk", "tool", "toolkit", "tools", "util", "utilities", "utils",
    }
)  # fmt: skip


def appends(case: Case) -> Iterator[Append]:
    """The appends of a unit that matter, each with its outcome."""
    if case.appended is None:
        case.appended = tuple(_appends(case))
    yield from case.appended


def _appends(case: Case) -> Iterator[Append]:
    writes = case.unit.writes
    earlier_tasks = [
        write for unit in case.world.before(case.file, case.unit) for write in unit.writes
    ]
    for at, write in enumerate(writes):
        if write.how is How.APPEND and write.language != "dbt" and _matters(case, write):
            earlier = writes[:at]
            if case.unit.kind == "sql-constants":
                # Tables are made by one script and filled by another.
                earlier = tuple(one for one in earlier if one.how not in _MAKES)
            settled = _settle(write, earlier, writes[at + 1 :], earlier_tasks)
            if settled.outcome is Outcome.DOUBLED and _is_for_others(case, write):
                settled = replace(settled, outcome=Outcome.OPEN, reason="its callers decide")
            yield settled


def _matters(case: Case, write: Write) -> bool:
    if not lasting(write) or case.file.setting != "pipeline":
        return False
    if write.rows == "literals":
        # A task that inserts a fixed row does so on each run; a script of them is a seed.
        return case.orchestrated and write.language == "sql"
    if write.rows != "parameters":
        return True
    if case.file.kind == "sql":
        return False
    if case.orchestrated:
        return True
    if write.batched:
        return True
    if naming.words(case.file.path.rsplit("/", 1)[-1]) & _KEEPERS:
        return False
    words = naming.words(case.file.path) | naming.words(case.unit.name)
    if case.unit.kind == "sql-constants":
        # A module of SQL texts for a pipeline to run.
        return bool(words & (_ETL_WORDS | {"queries", "sql"}) - {"sql"}) or "queries" in words
    return (write.looped and (case.unit.extracts or bool(words & _ETL_WORDS))) or (
        case.unit.extracts and bool(words & _ETL_WORDS)
    )


def _is_for_others(case: Case, write: Write) -> bool:
    """Whether this is a building block: its callers choose the table, and how often it is run."""
    words = naming.words(case.file.path)
    # An operator of a repository is run by its DAGs, one of a package of providers by others'.
    ours = case.orchestrated and not (case.unit.kind == _OPERATOR and "providers" in words)
    if ours or write.batched or case.file.dags:
        return False
    if not naming.is_nameless(write.table):
        return False
    if len(case.unit.name.split(".")) >= _METHOD_PARTS:
        return True
    called = len(case.unit.name.split(".")) == _METHOD_PARTS - 1
    return called and bool(words & _BLOCK_WORDS)


def _settle(
    write: Write, earlier: Sequence[Write], later: Sequence[Write], upstream: Sequence[Write]
) -> Append:
    if write.guard:
        return Append(write=write, outcome=Outcome.GUARDED, reason=write.guard)
    cleared = _last_clear(write, earlier)
    if cleared is not None:
        return _after(write, cleared)
    cleared = _last_clear(write, upstream)
    if cleared is not None:
        return _after(write, cleared)
    if any(one.dedupes and naming.same_table(write.table, one.table) for one in later):
        return Append(write=write, outcome=Outcome.GUARDED, reason="duplicates removed after")
    return Append(write=write, outcome=Outcome.DOUBLED)


def _last_clear(write: Write, others: Sequence[Write]) -> Write | None:
    for other in reversed(others):
        if not naming.same_table(write.table, other.table):
            continue
        deletes = other.how is How.DELETE and not other.retention and not other.dedupes
        if other.how in _CLEARS or deletes:
            return other
        if other.how is How.CREATE and other.guard:
            return other
    return None


def _after(write: Write, cleared: Write) -> Append:
    if cleared.how is not How.DELETE or not cleared.scope:
        # A table emptied as a whole is loaded as a whole: the next run puts it right.
        return Append(
            write=write, outcome=Outcome.GUARDED, delete=cleared, reason=cleared.how.value
        )
    if write.transaction and write.transaction == cleared.transaction:
        return Append(write=write, outcome=Outcome.GUARDED, reason="one transaction")
    return Append(write=write, outcome=Outcome.TORN, delete=cleared)
