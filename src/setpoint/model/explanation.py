"""A task explained: what it owns, why it writes as it does, and what a run carries out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from setpoint.model.key_kind import key_kind
from setpoint.model.merging import DELETED, LIVE
from setpoint.model.plan import WHOLE_TABLE
from setpoint.model.scope import Kinds, owned_scope, source_bounds
from setpoint.model.table import TableName
from setpoint.model.target import GUARANTEES
from setpoint.model.transform import SqlTransform, compose_sql, source_sql, sql_parameters
from setpoint.model.write import Merge, Overwrite, window_column

if TYPE_CHECKING:
    from setpoint.model.analysis import Analysis
    from setpoint.model.graph import Graph
    from setpoint.model.task import BoundSource, Task
    from setpoint.model.window import Window

Lines = tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """Lines for a person; the same as a document for programs."""

    task: str
    lines: Lines
    statement_title: str
    statement: str

    def document(self) -> dict[str, Any]:
        """The explanation as documented for `--output json`."""
        fields: dict[str, Any] = {n.replace(" ", "_"): list(values) for n, values in self.lines}
        place = fields.pop("task")[-1]
        return {"task": self.task, "file": place, **fields, "statement": self.statement}


def explain(
    task: Task,
    window: Window | None,
    graph: Graph,
    *,
    known: Kinds,
    analysis: Analysis | None = None,
    sql_only: bool = False,
) -> Explanation:
    """Put into words what a run of the task on the window would do.

    `known` are the kinds of the time columns that an earlier run met; what it leaves out is taken
    to be of the usual kind, and the explanation says so. With `sql_only` the graph lacks the tasks
    in Python, and no more is claimed than it knows.
    """
    kinds = analysis.kinds if analysis else known
    scope = owned_scope(task, window, kinds.target)
    lines: list[tuple[str, tuple[str, ...]]] = [
        ("task", (task.name, f"{task.path}:{task.line}")),
        ("about", tuple(task.description.splitlines()[:1])),
        ("target", (str(task.target),)),
        ("pattern", (_pattern(task), f"because: {task.choice.reason}")),
        ("guarantees", GUARANTEES[task.catalog_type].lines),
        ("readers", _readers(task)),
        ("grain", (f"{task.grain} ({task.grain.zone})" if task.grain else "none: whole table",)),
        ("window", (_window(task, window),)),
        ("key", _key(task)),
        ("gates", tuple(str(gate) for gate in task.gates) or ("none",)),
        ("sources", tuple(_source(s, window, graph, kinds) for s in task.sources) or ("none",)),
        ("read by", _read_by(task, graph, sql_only=sql_only)),
        ("late rows", _late(task)),
        ("retries", (_retries(task),)),
        ("effects", tuple(effect.words for effect in task.effects)),
        ("allowed", tuple(f"{a.function}: {a.reason}" for a in task.allow)),
        ("code", (task.fingerprint,)),
    ]
    if analysis:
        lines += [
            ("columns", tuple(f"{name} {kind}" for name, kind in analysis.columns.items())),
            ("hidden inputs", tuple(map(str, analysis.hidden)) or ("none found",)),
        ]
    title, statement = _statement(task, window, scope, kinds)
    return Explanation(
        task=task.name,
        lines=tuple((name, values) for name, values in lines if values),
        statement_title=title,
        statement=statement,
    )


def _pattern(task: Task) -> str:
    write = task.write
    if isinstance(write, Overwrite):
        return f"overwrite by {write.by}"
    if isinstance(write, Merge):
        newest = f"; the newest {write.version} wins" if write.version else ""
        deletes = f"; deletes where {write.delete_when}" if write.delete_when else ""
        return f"merge on {', '.join(write.on)}{newest}{deletes}"
    return f"replace by {write.by}" if write.by else "replace the whole table"


def _key(task: Task) -> tuple[str, ...]:
    kind = key_kind(task.unique_key)
    if kind is None:
        return ("none declared: uniqueness is not checked",)
    return (f"{', '.join(task.unique_key)} ({kind.value})", *(f"! {w}" for w in task.warnings))


def _late(task: Task) -> tuple[str, ...]:
    if task.lookback:
        return (f"reopened: each run also sets the {task.lookback} windows before its own",)
    return ("excluded, their number and samples recorded",) if task.late else ()


def _readers(task: Task) -> tuple[str, ...]:
    """What readers outside of Setpoint must know of the table."""
    if not isinstance(task.write, Merge) or task.write.delete_when is None:
        return ()
    view = TableName((*task.target.parts[:-1], f"{task.target.parts[-1]}_live"))
    return (
        f"deleted rows stay as tombstones (key and version alone) with {DELETED} = true",
        "tasks of Setpoint do not see them; for other readers make a view:",
        f"CREATE VIEW {view} AS SELECT * EXCEPT ({DELETED}) FROM {task.target} WHERE {LIVE}",  # noqa: S608
    )


def _replacing(write: Merge) -> str:
    return "newer than the table's" if write.version else "not the table's"


def _window(task: Task, window: Window | None) -> str:
    if task.grain is None:
        return WHOLE_TABLE
    if window is None:
        return "none: give --ds to see one"
    return f"{window.label}: [{window.start.isoformat()}, {window.end.isoformat()})"


def _source(source: BoundSource, window: Window | None, graph: Graph, kinds: Kinds) -> str:
    writer = next((t.name for t in graph.tasks.values() if t.target == source.table), None)
    made = f", made by {writer}" if writer else ""
    if source.event_time is None:
        return f"{source.name} = {source.table}{made}, read whole (static)"
    bounds = source_bounds(source, window, kinds.sources.get(source.name))
    bounds = bounds or f"{source.event_time} lies in the window"
    return f"{source.name} = {source.table}{made}, where {bounds}"


def _read_by(task: Task, graph: Graph, *, sql_only: bool) -> tuple[str, ...]:
    found = graph.consumers(task.target)
    if sql_only:
        return (*(found or ("no SQL task",)), "(tasks in Python are not looked at here)")
    return found or ("no task of this project",)


def _retries(task: Task) -> str:
    retry = task.retry
    if not retry.retries:
        return "none"
    return (
        f"{retry.retries}, after {retry.backoff.first:g} s and then "
        f"{retry.backoff.factor:g} times longer each, for transient errors only"
    )


def _statement(
    task: Task, window: Window | None, scope: str | None, kinds: Kinds
) -> tuple[str, str]:
    owned = f"replace the rows of {task.target} where {scope}" if scope else None
    by = window_column(task.write)
    if by is not None and owned is None:
        owned = f"replace the rows of {task.target} where {by} lies in the window"
    action = owned or f"replace all rows of {task.target}"
    if isinstance(task.write, Merge):
        action = (
            f"merge into {task.target}: insert rows whose {', '.join(task.write.on)} is new, "
            f"update rows whose {task.write.version or 'content'} is {_replacing(task.write)}"
        )
    guess = ""
    if window and (
        (scope and not kinds.target)
        or len(kinds.sources) < sum(bool(s.event_time) for s in task.sources)
    ):
        guess = "\n-- column types are guessed until the task has run; --analyze tells them now"
    if not isinstance(task.transform, SqlTransform):
        return "the write that is carried out", action + guess
    sources = {
        s.name: source_sql(s.table.sql, source_bounds(s, window, kinds.sources.get(s.name)))
        for s in task.sources
    }
    given = "".join(
        f"\n-- :{name} = {value}"
        for name, value in sql_parameters(window).items()
        if f":{name}" in task.transform.text
    )
    statement = compose_sql(task.transform.statement, sources)
    return "the SQL that is carried out", f"-- {action}{guess}{given}\n{statement}"
