"""One call of the audited code, with what is known of its parts."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from setpoint.auditing.python.modules import spelled
from setpoint.auditing.python.values import UNKNOWN, Value, joined, shaping

if TYPE_CHECKING:
    from setpoint.auditing.facts import Spot
    from setpoint.auditing.python.evaluating import Names
    from setpoint.auditing.python.modules import Module
    from setpoint.auditing.python.values import Mark, Pending


# Not frozen for the same reason as Value.
@dataclass(kw_only=True, slots=True)
class Call:
    """A call: `receiver.method(args, keywords)` or `dotted(args, keywords)`."""

    node: ast.Call
    module: Module
    dotted: str
    """The dotted name with imports resolved; empty when the callee is no plain name."""
    method: str
    """The last part of the callee's name."""
    receiver: Value = UNKNOWN
    args: tuple[Value, ...] = ()
    keywords: dict[str, Value] = field(default_factory=dict)
    names: Names = field(default_factory=dict)

    @property
    def spot(self) -> Spot:
        """Where the call stands."""
        return self.module.spot(self.node)

    def argument(self, position: int, *keywords: str) -> Value:
        """The argument by one of its names, or by its place."""
        for keyword in keywords:
            if keyword in self.keywords:
                return self.keywords[keyword]
        if 0 <= position < len(self.args):
            return self.args[position]
        return UNKNOWN

    def node_of(self, position: int, *keywords: str) -> ast.expr | None:
        """The source of an argument."""
        for word in self.node.keywords:
            if word.arg in keywords:
                return word.value
        if 0 <= position < len(self.node.args):
            return self.node.args[position]
        return None

    @property
    def marks(self) -> frozenset[Mark]:
        """All marks of the arguments."""
        return joined([*self.args, *self.keywords.values()])

    def source(self) -> str:
        """The call as written."""
        return spelled(self.node)[:600]

    def receiver_is_data(self) -> bool:
        """Whether the receiver may be a data frame: known to be one, or nothing else is known."""
        return self.receiver.kind in {"frame", ""} and not self.receiver.name

    @property
    def receiver_text(self) -> str:
        """The receiver as written."""
        func = self.node.func
        return spelled(func.value)[:200] if isinstance(func, ast.Attribute) else ""

    @property
    def pending(self) -> frozenset[Pending]:
        """What shaped the receiver and the arguments."""
        return shaping([self.receiver, *self.args, *self.keywords.values()])

    @property
    def text(self) -> str:
        """The callee as written, for messages."""
        return spelled(self.node.func)[:80]
