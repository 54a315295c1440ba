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
    UniqueGate,
)
from setpoint.model.retry import Retry
from setpoint.model.write import Merge, window_column

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

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

    @classmethod
    def of(cls, name: str, source: Source, table: TableName) -> BoundSource:
        """The source under the name that the transform reads it by."""
        return cls(name=name, table=table, event_time=None if source.static else source.event_time)


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
        if isinstance(self.write, Merge):
            version = (self.write.version,) if self.write.version else ()
            gates.append(NotNullGate(columns=(*self.write.on, *version)))
        if self.unique_key and not self._merges_by_its_key:
            gates.append(NotNullGate(columns=self.unique_key))
            gates.append(UniqueGate(columns=self.unique_key))
        gates += [CheckGate(name=name, condition=text) for name, text in self.checks.items()]
        if self.rows:
            gates.append(self.rows)
        return tuple(gates)

    @property
    def _merges_by_its_key(self) -> bool:
        """A merge takes several versions of a key and reduces them itself."""
        return isinstance(self.write, Merge) and set(self.write.on) == set(self.unique_key)
