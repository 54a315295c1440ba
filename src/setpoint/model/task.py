"""A task: a transform plus what it owns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from setpoint.model.gate import (
    CheckGate,
    Gate,
    NotNullGate,
    RowCountGate,
    ScopeGate,
    TieGate,
    UniqueGate,
)
from setpoint.model.key_kind import key_warning
from setpoint.model.retry import Retry
from setpoint.model.write import Merge, window_column

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from setpoint.model.effect import Effect
    from setpoint.model.grain import Grain
    from setpoint.model.hidden_input import Allow
    from setpoint.model.pattern import Choice
    from setpoint.model.source import Source
    from setpoint.model.table import TableName
    from setpoint.model.transform import Transform
    from setpoint.model.write import Write


@dataclass(frozen=True, kw_only=True)
class BoundSource:
    """A source of a task, its table's name understood."""

    name: str
    table: TableName
    event_time: str | None
    arrival_time: str | None = None

    @classmethod
    def of(cls, name: str, source: Source, table: TableName) -> BoundSource:
        """The source under the name that the transform reads it by."""
        return cls(
            name=name,
            table=table,
            event_time=None if source.static else source.event_time,
            arrival_time=source.arrival_time,
        )


@dataclass(frozen=True, kw_only=True)
class Task:
    """What is run: where it writes, how, for which windows, from what, checked by what."""

    name: str
    target: TableName
    grain: Grain | None
    """None: the task has no windows and sets its whole table."""
    choice: Choice
    transform: Transform
    path: Path
    line: int
    fingerprint: str
    description: str = ""
    unique_key: tuple[str, ...] = ()
    sources: tuple[BoundSource, ...] = ()
    checks: Mapping[str, str] = field(default_factory=dict)
    rows: RowCountGate | None = None
    retry: Retry = field(default_factory=Retry)
    allow: tuple[Allow, ...] = ()
    development_date: str | None = None
    catalog_type: str = "iceberg"
    """The kind of catalog that the target lives in, which decides what can be promised."""
    lookback: int = 0
    """How many windows before a run's own are opened again, for rows that came late."""
    late: str | None = None
    """`exclude`: rows that came late are left out, and reported."""
    effects: tuple[Effect, ...] = ()
    """What is sent to the outside world once the result is committed."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a person should know of the task before it runs."""
        warning = key_warning(self.unique_key)
        return (warning,) if warning else ()

    @property
    def write(self) -> Write:
        """The write pattern."""
        return self.choice.write

    @property
    def gates(self) -> tuple[Gate, ...]:
        """The checks inside the write, in the order in which a person reads them."""
        gates: list[Gate] = []
        by = window_column(self.write)
        if by is not None:
            gates.append(ScopeGate(column=by))
        deleted = None
        if isinstance(self.write, Merge):
            gates += _merge_gates(self.write)
            deleted = self.write.delete_when
        elif self.unique_key:
            gates.append(NotNullGate(columns=self.unique_key))
            gates.append(UniqueGate(columns=self.unique_key))
        gates += [
            CheckGate(name=name, condition=text, unless=deleted)
            for name, text in self.checks.items()
        ]
        if self.rows:
            gates.append(self.rows)
        return tuple(gates)


def _merge_gates(write: Merge) -> list[Gate]:
    versions = (write.version,) if write.version else ()
    return [
        NotNullGate(columns=(*write.on, *versions)),
        TieGate(columns=write.on, version=write.version),
        UniqueGate(columns=write.on),
    ]
