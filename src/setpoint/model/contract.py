"""A task's contract: what it owns and promises, written from the task itself."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from setpoint.model.key_kind import key_kind
from setpoint.model.target import GUARANTEES
from setpoint.model.transform import SQL_PARAMETERS, SqlTransform
from setpoint.model.write import Merge, window_column

if TYPE_CHECKING:
    from setpoint.model.graph import Graph
    from setpoint.model.task import BoundSource, Task

Sections = tuple[tuple[str, tuple[str, ...]], ...]
NONE = "none"


@dataclass(frozen=True, kw_only=True)
class Read:
    """One source of a task, and who makes it."""

    name: str
    table: str
    event_time: str | None
    """The column it is bounded by; None: read whole."""
    arrival_time: str | None
    made_by: str | None

    @property
    def words(self) -> str:
        """The source in a line."""
        maker = f", made by {self.made_by}" if self.made_by else ", made outside of this project"
        if self.event_time is None:
            return f"{self.name} = {self.table}{maker}; read whole"
        arrival = f"; arrives by {self.arrival_time}" if self.arrival_time else ""
        return f"{self.name} = {self.table}{maker}; the rows whose {self.event_time} lies in the window{arrival}"  # noqa: E501


@dataclass(frozen=True, kw_only=True)
class Contract:
    """What others may rely on. Every word comes from the task; nobody keeps it by hand."""

    task: str
    about: str
    file: str
    table: str
    pattern: str
    because: str
    owns: str
    partition_column: str | None
    key: tuple[str, ...]
    key_kind: str | None
    grain: str | None
    zone: str | None
    parameters: tuple[str, ...]
    late: str
    gates: tuple[str, ...]
    sources: tuple[Read, ...]
    consumers: tuple[str, ...]
    effects: tuple[str, ...]
    retries: int
    allowed: tuple[str, ...]
    warnings: tuple[str, ...]
    guarantees: tuple[str, ...]
    verified: str | None
    """When and how it was proven to be safe to run twice; None: not on this code."""
    code: str

    def document(self) -> dict[str, Any]:
        """The contract as documented for `--output json`."""
        return asdict(self)

    @property
    def sections(self) -> Sections:
        """The contract under its headings, for a page."""
        key = f"{', '.join(self.key)} ({self.key_kind})" if self.key else "none declared"
        verified = self.verified or "not on this code"
        time = (
            (
                f"windows of one {self.grain}, edges in {self.zone}, half-open [start, end)",
                f"parameters: {', '.join(self.parameters) or NONE}",
            )
            if self.grain
            else ("no windows: each run sets the whole table",)
        )
        return (
            ("Owns", (f"{self.table}: {self.owns}", f"pattern: {self.pattern} ({self.because})")),
            ("Partition column", (self.partition_column or NONE,)),
            ("Key", (key, *self.warnings)),
            ("Time", time),
            ("Late rows", (self.late,)),
            ("Gates, before any reader sees a row", self.gates or (NONE,)),
            ("Reads", tuple(source.words for source in self.sources) or (NONE,)),
            ("Read by", self.consumers or ("no task of this project",)),
            ("Effects", self.effects or (NONE,)),
            ("Retries", (f"{self.retries}, for transient errors only" if self.retries else NONE,)),
            ("Hidden inputs that are meant", self.allowed or (NONE,)),
            ("Guarantees of the target", self.guarantees),
            ("Verified", (verified,)),
            ("Written from", (f"{self.file}, code {self.code}",)),
        )


def contract_of(task: Task, graph: Graph, *, verified: str | None = None) -> Contract:
    """The contract of a task among the tasks of its project."""
    kind = key_kind(task.unique_key)
    return Contract(
        task=task.name,
        about=" ".join(task.description.split()),
        file=f"{task.path}:{task.line}",
        table=str(task.target),
        pattern=task.write.name,
        because=task.choice.reason,
        owns=_owns(task),
        partition_column=window_column(task.write),
        key=task.unique_key,
        key_kind=kind.value if kind else None,
        grain=str(task.grain) if task.grain else None,
        zone=task.grain.zone if task.grain else None,
        parameters=_parameters(task),
        late=_late(task),
        gates=tuple(map(str, task.gates)),
        sources=tuple(_read(source, graph) for source in task.sources),
        consumers=graph.consumers(task.target),
        effects=tuple(effect.words for effect in task.effects),
        retries=task.retry.retries,
        allowed=tuple(f"{entry.function}: {entry.reason}" for entry in task.allow),
        warnings=task.warnings,
        guarantees=GUARANTEES[task.catalog_type].lines,
        verified=verified,
        code=task.fingerprint,
    )


def _owns(task: Task) -> str:
    by = window_column(task.write)
    if by is not None:
        return f"the rows whose {by} lies in the window; a run sets them and no others"
    if isinstance(task.write, Merge):
        newest = f", the newest {task.write.version} wins" if task.write.version else ""
        deletes = f"; deleted where {task.write.delete_when}" if task.write.delete_when else ""
        return f"one row for each {', '.join(task.write.on)}{newest}{deletes}"
    return "the whole table; each run sets all of it"


def _parameters(task: Task) -> tuple[str, ...]:
    """The names under which the transform takes the window, those that it uses."""
    if isinstance(task.transform, SqlTransform):
        text = task.transform.text
        return tuple(f":{name}" for name in SQL_PARAMETERS if f":{name}" in text)
    return tuple(name for name in task.transform.parameters if name == "window")


def _late(task: Task) -> str:
    if task.lookback:
        return f"reopened: each run also sets the {task.lookback} windows before its own"
    if task.late:
        return "excluded; their number and samples are in the run's record"
    return "no policy: a row that arrives after its window was set waits for the next run of it"


def _read(source: BoundSource, graph: Graph) -> Read:
    writer = next((t.name for t in graph.tasks.values() if t.target == source.table), None)
    return Read(
        name=source.name,
        table=str(source.table),
        event_time=source.event_time,
        arrival_time=source.arrival_time,
        made_by=writer,
    )
