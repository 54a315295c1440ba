"""The whole repository while it is judged: what comes before what, and who fills a table."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from setpoint.auditing import naming
from setpoint.auditing.facts import How, Spot
from setpoint.auditing.imported import Modules, modules_of, with_imported_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from setpoint.auditing.context import ProjectContext
    from setpoint.auditing.facts import Dag, FileFacts, Unit, Write
    from setpoint.auditing.finding import Finding
    from setpoint.auditing.guarding import Append

_ORCHESTRATED = ("airflow", "dagster", "prefect", "setpoint")


@dataclass(frozen=True, kw_only=True)
class World:
    """All files of one audit, with the answers that only the whole can give."""

    context: ProjectContext
    files: Sequence[FileFacts]
    sql_units: Mapping[str, Unit] = field(default_factory=dict)
    """Units of .sql files by path, for tasks that run a file."""
    loaded: frozenset[str] = frozenset()
    """Tables that some pipeline appends rows to."""
    runners: Mapping[str, tuple[FileFacts, Unit]] = field(default_factory=dict)
    """The task that runs a .sql file, by the file's path."""
    modules: Modules = field(default_factory=Modules)

    def dag_of(self, file: FileFacts, unit: Unit) -> Dag | None:
        """The DAG that a unit is a task of."""
        for dag in file.dags:
            if dag.name == unit.dag:
                return dag
        return None

    def before(self, file: FileFacts, unit: Unit) -> Iterator[Unit]:
        """The tasks of the same DAG that are done before this one starts."""
        runner = self.runners.get(file.path)
        if runner is not None and file.kind == "sql":
            yield from self.before(*runner)
            return
        dag = self.dag_of(file, unit)
        if dag is None or not unit.task:
            return
        earlier: set[str] = set()
        frontier = {unit.task}
        while frontier:
            frontier = {left for left, right in dag.edges if right in frontier} - earlier
            earlier |= frontier
        for other in file.units:
            if other.dag == unit.dag and other.task in earlier:
                yield other
                ran = self.file_of(other)
                if ran is not None:
                    yield ran

    def file_of(self, unit: Unit) -> Unit | None:
        """The unit of the .sql file that a task runs."""
        path = self.path_of(unit)
        return self.sql_units[path] if path else None

    def path_of(self, unit: Unit) -> str:
        """The path of the .sql file that a task runs; empty when it runs none."""
        if not unit.callable:
            return ""
        return next((path for path in self.sql_units if _is_file(unit.callable, path)), "")


def _is_file(named: str, path: str) -> bool:
    wanted = named.lstrip("./")
    return bool(wanted) and (path == wanted or path.endswith(f"/{wanted}"))


def build_world(files: Sequence[FileFacts], context: ProjectContext) -> World:
    """The world of all files that were read."""
    modules = modules_of(files)
    files = with_imported_names(files, modules)
    sql_units = {file.path: unit for file in files if file.kind == "sql" for unit in file.units}
    loaded = {
        write.table
        for file in files
        if file.setting == "pipeline"
        for unit in file.units
        for write in unit.writes
        if write.how is How.APPEND and write.rows != "literals" and write.table
    }
    runners = {
        path: (file, unit)
        for file in files
        for unit in file.units
        if unit.callable
        for path in sql_units
        if _is_file(unit.callable, path)
    }
    return World(
        context=context,
        files=files,
        sql_units=sql_units,
        loaded=frozenset(loaded),
        runners=runners,
        modules=modules,
    )


@dataclass(kw_only=True)
class Case:
    """One unit before the rules, with what was found in it so far."""

    unit: Unit
    file: FileFacts
    world: World
    findings: list[Finding] = field(default_factory=list)
    appended: tuple[Append, ...] | None = None
    """Worked out by the first rule that asks for the appends; several do."""
    of_files: Mapping[str, Sequence[Finding]] = field(default_factory=dict)
    """What was found in .sql files, by path: they are judged before the tasks that run them."""

    @property
    def orchestrated(self) -> bool:
        """Whether an orchestrator runs this unit."""
        return self.unit.kind.startswith(_ORCHESTRATED)

    @property
    def unit_spot(self) -> Spot:
        """Where the unit begins."""
        return Spot(line=self.unit.line, end_line=self.unit.line)

    @cached_property
    def is_pipeline(self) -> bool:
        """Whether the unit moves data at all, so that a hidden input in it matters."""
        if self.file.setting != "pipeline":
            return False
        if self.unit.kind.startswith("dbt") or self.orchestrated or self.file.dags:
            return True
        return any(
            lasting(write) or naming.is_state_table(write.table)
            for unit in self.file.units
            for write in unit.writes
        )


def lasting(write: Write) -> bool:
    """Whether a write changes something that outlives the run and is no log."""
    if write.temporary:
        return False
    if write.rows in {"parameters", "literals"}:
        return not naming.may_be_log_table(write.table)
    return not naming.is_log_table(write.table)
