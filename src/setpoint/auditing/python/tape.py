"""What one unit of Python code was seen to do, in order."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from setpoint.auditing.facts import Draw, How, Source, Unit
from setpoint.auditing.sql.roles import role_of_column

if TYPE_CHECKING:
    from collections.abc import Iterable

    from setpoint.auditing.facts import Effect, Spot, Write
    from setpoint.auditing.python.values import Mark, Pending

_SOURCES = {
    "clock": Source.CLOCK,
    "random": Source.RANDOM,
    "uuid": Source.UUID,
    "env": Source.ENVIRONMENT,
    "sequence": Source.SEQUENCE,
    "row-number": Source.ROW_NUMBER,
}


@dataclass(kw_only=True)
class Tape:
    """The acts of a unit while it is being read."""

    name: str
    kind: str
    line: int
    end_line: int
    writes: list[Write] = field(default_factory=list)
    draws: list[Draw] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)
    reads: dict[str, None] = field(default_factory=dict)
    logical_date: bool = False
    alert: bool = False
    dag: str = ""
    task: str = ""
    callable: str = ""
    retries: int = 0
    retries_spot: Spot | None = None
    grain: str = ""
    opaque: str = ""
    calls: dict[str, None] = field(default_factory=dict)
    extracts: bool = False
    """Whether it reads data from somewhere: a file, an API, a query."""

    def draw(self, marks: Iterable[Mark], role: str, *, column: str = "", table: str = "") -> None:
        """Record that hidden inputs decide something; a column's name says what."""
        for mark in marks:
            if mark.kind == "logical":
                self.logical_date = True
                continue
            source = _SOURCES.get(mark.kind)
            if source is None:
                continue
            settled = role_of_column(column) if role == "column" else role
            self.draws.append(
                Draw(
                    source=source,
                    role=settled,
                    spot=mark.spot,
                    text=mark.name if source is Source.ENVIRONMENT and mark.name else mark.text,
                    column=column.lower(),
                    table=table,
                    language=mark.host,
                )
            )

    def flush(self, pending: Iterable[Pending], table: str = "") -> None:
        """Data that was shaped by hidden inputs is written: now they matter."""
        for one in sorted(pending, key=lambda each: (each.mark.spot.line, each.role)):
            self.draw([one.mark], one.role, column=one.column, table=table)

    def unit(self) -> Unit:
        """The finished unit, what was seen twice kept once."""
        return Unit(
            name=self.name,
            kind=self.kind,
            line=self.line,
            end_line=self.end_line,
            writes=tuple(self.writes),
            draws=tuple(dict.fromkeys(self.draws)),
            effects=tuple(dict.fromkeys(self.effects)),
            reads=tuple(self.reads),
            dag=self.dag,
            task=self.task,
            callable=self.callable,
            retries=self.retries,
            retries_spot=self.retries_spot,
            logical_date=self.logical_date,
            alert=self.alert,
            extracts=self.extracts,
            opaque=self.opaque,
            calls=tuple(self.calls),
            grain=self.grain,
        )

    def write(self, write: Write) -> None:
        """Record a write."""
        self.writes.append(write)

    def guard_last(self, reason: str) -> None:
        """Excuse the append that was recorded last."""
        if self.writes and self.writes[-1].how is How.APPEND:
            self.writes[-1] = replace(self.writes[-1], guard=reason)
