"""A project: its settings and its tasks."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from setpoint.errors import Fault, ProjectError
from setpoint.model.graph import Graph
from setpoint.project.resolving import resolve
from setpoint.project.settings import find_root, read_settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from setpoint.model.settings import Settings
    from setpoint.model.task import Task
    from setpoint.project.declaration import Declaration
    from setpoint.project.resolving import ProofOf


@dataclass(frozen=True, kw_only=True)
class Project:
    """Settings and the graph of tasks, loaded and checked."""

    settings: Settings
    graph: Graph


def open_settings(folder: Path) -> Settings:
    """The settings of the project that the folder lies in."""
    return read_settings(find_root(folder.resolve()))


def load_project(
    folder: Path, *, allow_unsafe_retry: bool = False, proof: ProofOf | None = None
) -> Project:
    """Load all task files; raises with every fault at once.

    Without `proof` nothing but the declarations decides which tasks may have retries.
    """
    settings = open_settings(folder)
    declarations, faults = _read_sql(settings)
    more, python_faults = _read_python(settings)
    return _assemble(
        settings,
        [*declarations, *more],
        [*faults, *python_faults],
        allow_unsafe_retry=allow_unsafe_retry,
        proof=proof,
    )


def load_sql_project(folder: Path, *, proof: ProofOf | None = None) -> Project:
    """Load the SQL task files alone: no code of the project is executed."""
    settings = open_settings(folder)
    declarations, faults = _read_sql(settings)
    return _assemble(settings, declarations, faults, proof=proof)


def _read_sql(settings: Settings) -> tuple[list[Declaration], list[Fault]]:
    files = _files(settings, "*.sql")
    if not files:
        return [], []
    from setpoint.project.sql_file import read_sql_file

    return _gather(read_sql_file(path, settings.root) for path in files)


def _read_python(settings: Settings) -> tuple[list[Declaration], list[Fault]]:
    files = [path for path in _files(settings, "*.py") if not path.name.startswith("_")]
    if not files:
        return [], []
    from setpoint.project.python_file import read_python_file

    folder = str(settings.pipelines)
    if folder not in sys.path:
        sys.path.insert(0, folder)  # so that task files can import what lies beside them
    return _gather(read_python_file(path, settings.root) for path in files)


def _gather(
    read: Iterable[tuple[list[Declaration], list[Fault]]],
) -> tuple[list[Declaration], list[Fault]]:
    declarations: list[Declaration] = []
    faults: list[Fault] = []
    for found, wrong in read:
        declarations += found
        faults += wrong
    return declarations, faults


def _files(settings: Settings, pattern: str) -> list[Path]:
    return sorted(
        path
        for path in settings.pipelines.rglob(pattern)
        if path.is_file() and "__pycache__" not in path.parts
    )


def _assemble(
    settings: Settings,
    declarations: Sequence[Declaration],
    faults: list[Fault],
    *,
    allow_unsafe_retry: bool = False,
    proof: ProofOf | None = None,
) -> Project:
    tasks: list[Task] = []
    for declaration in declarations:
        task, wrong = resolve(
            declaration, settings, allow_unsafe_retry=allow_unsafe_retry, proof=proof
        )
        faults += wrong
        if task:
            tasks.append(task)
    faults += _clashes(tasks)
    graph = Graph.of(tasks)
    circle = graph.cycle()
    if circle:
        first = graph.tasks[circle[0]]
        faults.append(
            Fault(
                path=first.path,
                line=first.line,
                message=f"tasks feed each other in a circle: {' → '.join(circle)}",
                fix="break the circle: one of them must read another table",
            )
        )
    if faults:
        count = f"{len(faults)} fault{'s' if len(faults) > 1 else ''}"
        raise ProjectError(f"the project's tasks have {count}", faults=faults)
    return Project(settings=settings, graph=graph)


def _clashes(tasks: Sequence[Task]) -> list[Fault]:
    faults: list[Fault] = []
    names: dict[str, Task] = {}
    targets: dict[str, Task] = {}
    for task in tasks:
        for kind, seen, key in (
            ("name", names, task.name),
            ("target", targets, str(task.target).lower()),
        ):
            other = seen.setdefault(key, task)
            if other is not task:
                faults.append(
                    Fault(
                        path=task.path,
                        line=task.line,
                        message=f"task {task.name}: its {kind} {key} is also that of "
                        f"{other.name} ({other.path}:{other.line})",
                        fix=f"one task owns one target: give each its own {kind}",
                    )
                )
    return faults
