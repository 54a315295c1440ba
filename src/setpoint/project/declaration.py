"""A task as its author wrote it, not yet checked; the `@task` decorator makes one."""

from __future__ import annotations

import inspect
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setpoint.model.transform import PythonTransform, Transform

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import FrameType

    from setpoint.model.effect import Effect
    from setpoint.model.hidden_input import Allow
    from setpoint.model.retry import Backoff
    from setpoint.model.source import Source
    from setpoint.model.write import Write

    Allowed = Mapping[str, str] | Sequence[Allow]

_gathered: ContextVar[list[Declaration] | None] = ContextVar("gathered", default=None)


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """What `@task(...)` or a SQL file's header says."""

    name: str
    target: str
    transform: Transform
    path: Path
    line: int
    grain: str | None = None
    timezone: str = "UTC"
    write: Write | None = None
    partition_by: str | None = None
    unique_key: str | Sequence[str] = ()
    version: str | None = None
    sources: Mapping[str, Source] = field(default_factory=dict)
    checks: Mapping[str, str] = field(default_factory=dict)
    min_rows: int | None = None
    max_rows: int | None = None
    retries: int = 0
    backoff: Backoff | None = None
    allow: Allowed = ()
    lookback: int = 0
    late: str | None = None
    effects: Sequence[Effect] = ()
    development_date: str | None = None
    description: str = ""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the transform itself, as a test would."""
        if not isinstance(self.transform, PythonTransform):
            raise TypeError(f"{self.name} is a SQL task and cannot be called")
        return self.transform.function(*args, **kwargs)


def task(
    *,
    target: str,
    grain: str | None = None,
    timezone: str = "UTC",
    write: Write | None = None,
    partition_by: str | None = None,
    unique_key: str | Sequence[str] = (),
    version: str | None = None,
    sources: Mapping[str, Source] | None = None,
    checks: Mapping[str, str] | None = None,
    min_rows: int | None = None,
    max_rows: int | None = None,
    retries: int = 0,
    backoff: Backoff | None = None,
    allow: Allowed = (),
    lookback: int = 0,
    late: str | None = None,
    effects: Sequence[Effect] = (),
    development_date: str | None = None,
    name: str | None = None,
) -> Callable[[Callable[..., Any]], Declaration]:
    """Declare a function to be a task.

    Args:
        target: The table that the task owns: `catalog.namespace.table`.
        grain: How long a window is: `15min`, `hour`, `day`, `week`, `month`. None: no windows.
        timezone: The zone in which the windows' edges lie.
        write: `overwrite(by=…)`, `merge(on=…)` or `replace()`; chosen by a rule when left out.
        partition_by: The time column of the result, for the rule that chooses.
        unique_key: The columns that no two rows of the result share.
        version: The column that says which of two rows of a key is newer, for the rule.
        sources: What the transform reads, by parameter name.
        checks: Conditions in SQL that every row must meet, by name.
        min_rows: The fewest rows that a result may have.
        max_rows: The most rows that a result may have.
        retries: How often to try again after a transient fault.
        backoff: How long to wait between attempts.
        allow: Hidden inputs that are meant, each with its reason.
        lookback: How many windows before its own each run opens again, for rows that came late.
        late: `exclude` to leave late rows out and report them; a source says `arrival_time`.
        effects: What is sent once the result is committed: `email(…)`, `slack(…)`, `http(…)`, ….
        development_date: The date used when none is given; a fixed historical one.
        name: The task's name; the function's own when left out.
    """
    frame = inspect.currentframe()
    place = _place(frame.f_back if frame else None)

    def declare(function: Callable[..., Any]) -> Declaration:
        declaration = Declaration(
            name=name or function.__name__,
            target=target,
            transform=PythonTransform(
                function=function, parameters=tuple(inspect.signature(function).parameters)
            ),
            path=place[0],
            line=place[1],
            grain=grain,
            timezone=timezone,
            write=write,
            partition_by=partition_by,
            unique_key=unique_key,
            version=version,
            sources=sources or {},
            checks=checks or {},
            min_rows=min_rows,
            max_rows=max_rows,
            retries=retries,
            backoff=backoff,
            allow=allow,
            lookback=lookback,
            late=late,
            effects=effects,
            development_date=development_date,
            description=inspect.getdoc(function) or "",
        )
        gathered = _gathered.get()
        if gathered is not None:
            gathered.append(declaration)
        return declaration

    return declare


def _place(caller: FrameType | None) -> tuple[Path, int]:
    """The file and line that declare a task: of a factory's tasks, those that call the factory."""
    frame = caller
    if _gathered.get() is not None:
        while frame is not None and frame.f_code.co_name != "<module>":
            frame = frame.f_back
    found = frame or caller
    return (Path(found.f_code.co_filename), found.f_lineno) if found else (Path(), 1)


@contextmanager
def gathering() -> Iterator[list[Declaration]]:
    """Collect the tasks that are declared meanwhile."""
    gathered: list[Declaration] = []
    token = _gathered.set(gathered)
    try:
        yield gathered
    finally:
        _gathered.reset(token)
