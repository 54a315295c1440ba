"""Goes through a module's statements in the order they would run, calls inlined, nothing run."""

from __future__ import annotations

import ast
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from setpoint.auditing import naming
from setpoint.auditing.facts import How
from setpoint.auditing.python import dispatch, orchestrators, spark
from setpoint.auditing.python.calls import Call
from setpoint.auditing.python.conditions import (
    LOOKED_UP,
    LOOKUPS,
    asks_for_absence,
    checked_before,
    first_round,
    leaves,
    merge,
)
from setpoint.auditing.python.effects import is_alert_name
from setpoint.auditing.python.evaluating import Evaluator, Names
from setpoint.auditing.python.modules import FunctionNode, spelled
from setpoint.auditing.python.repeated import RepeatedTexts
from setpoint.auditing.python.tape import Tape
from setpoint.auditing.python.values import UNKNOWN, Value, either, joined, shaping

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from setpoint.auditing.facts import Dag, Write
    from setpoint.auditing.finding import Unparsed
    from setpoint.auditing.python.modules import Module
    from setpoint.auditing.python.values import Mark
    from setpoint.auditing.sql.writes import Memory

_MOST_INLINED = 400
_DEEPEST_INLINED = 5
_MOST_STATEMENTS = 30_000
_REMOVES = frozenset({How.DELETE, How.TRUNCATE, How.DROP})

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Walker(Evaluator):
    """Reads one module into tapes, one a unit."""

    def __init__(
        self, module: Module, *, path: str, hint: str, seeded: bool, memory: Memory
    ) -> None:
        super().__init__(module, seeded=seeded)
        self.path = path
        self.hint = hint
        self.memory = memory
        self.repeated = RepeatedTexts()
        self.tapes: list[Tape] = []
        self.dags: list[Dag] = []
        self.unparsed: list[Unparsed] = []
        self.globals: Names = {}
        self.tape = Tape(name="", kind="python", line=1, end_line=1)
        self.loop = 0
        self.transaction = 0
        self.implicit = 1
        self.manual = False
        """Whether the code turned off a connection's own commits."""
        self._transactions = 1
        self.handler = 0
        self.batched = 0
        self.conditions: list[str] = []
        self.inlined: set[str] = set()
        self.dynamic_overwrite = False
        self.checkpointed = False
        self.current_dag: Value | None = None
        self.dag_state: dict[str, dispatch.DagState] = {}
        self.views: Names = {}
        self.peaks: set[str] = set()
        """Tables whose highest value was asked for."""
        self.compares = False
        """Whether some SQL takes only what lies beyond a value that is pasted in."""
        self.ran_texts: set[int] = set()
        """First lines of the literals that were run as SQL."""
        self._stack: list[str] = []
        self._discarded: set[int] = set()
        self._returned: set[int] = set()
        self._alerts = 0
        self.callbacks: set[str] = set()
        """Functions that are run when something failed."""
        self._returns: list[Value] = []
        self._inlined_calls = 0
        self._statements = 0

    # Units

    @contextmanager
    def recording(self, tape: Tape) -> Iterator[Tape]:
        """Record on another tape for a while."""
        before, self.tape = self.tape, tape
        kept = (self.loop, self.transaction, self.handler, self.conditions)
        self.loop, self.transaction, self.handler, self.conditions = 0, 0, 0, []
        try:
            yield tape
        finally:
            self.tape = before
            self.loop, self.transaction, self.handler, self.conditions = kept
            self.tapes.append(tape)

    def new_transaction(self) -> int:
        """A fresh number for writes that commit together."""
        self._transactions += 1
        return self._transactions

    def committed(self) -> None:
        """What follows an explicit commit no longer commits with what came before."""
        self.implicit = self.new_transaction()

    # Statements

    def block(self, body: Sequence[ast.stmt], names: Names) -> None:
        """Go through statements in order."""
        pushed = 0
        for statement in body:
            self._statements += 1
            if self._statements > _MOST_STATEMENTS:
                return
            self.statement(statement, names)
            if isinstance(statement, ast.If) and leaves(statement.body):
                self.conditions.append("not " + spelled(statement.test)[:300])
                pushed += 1
                if asks_for_absence(statement.test, names) is False:
                    self.conditions.append(LOOKED_UP)
                    pushed += 1
        if pushed:
            del self.conditions[-pushed:]

    def statement(self, node: ast.stmt, names: Names) -> None:  # noqa: C901, PLR0912 - a dispatch over kinds
        """Go through one statement."""
        if isinstance(node, ast.Expr):
            ran = node.value.value if isinstance(node.value, ast.Await) else node.value
            self._discarded.add(id(ran))
            self.value(node.value, names)
        elif isinstance(node, ast.Assign):
            self._assign(node.targets, self.value(node.value, names), names, node.value)
        elif isinstance(node, ast.AnnAssign):
            self._assign([node.target], self.value(node.value, names), names, node.value)
        elif isinstance(node, ast.AugAssign):
            self._augment(node, names)
        elif isinstance(node, ast.Return):
            self._returned.add(id(node.value))
            self._returns.append(self.value(node.value, names))
        elif isinstance(node, ast.If):
            self._if_statement(node, names)
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            self._for(node, names)
        elif isinstance(node, ast.While):
            self.value(node.test, names)
            self._loop(node.body, names)
            self.block(node.orelse, names)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            self._with(node, names)
        elif isinstance(node, ast.Try) or type(node).__name__ == "TryStar":
            self._try(node, names)
        elif isinstance(node, FunctionNode):
            dispatch.on_function(self, node, names)
        elif isinstance(node, ast.Match):
            for case in node.cases:
                self.block(case.body, names)
        elif isinstance(node, ast.Raise):
            self.value(node.exc, names)

    def _assign(
        self, targets: Sequence[ast.expr], value: Value, names: Names, source: ast.expr | None
    ) -> None:
        for target in targets:
            self._bind(target, value, names, source)

    def _bind(self, target: ast.expr, value: Value, names: Names, source: ast.expr | None) -> None:
        if isinstance(target, ast.Name):
            names[target.id] = value
            dispatch.on_named(self, target.id, value, source)
        elif isinstance(target, (ast.Tuple, ast.List)):
            items = value.items
            for at, one in enumerate(target.elts):
                rest = Value(marks=value.marks, kind=value.kind, pending=value.pending)
                part = items[at] if items is not None and at < len(items) else rest
                self._bind(one, part, names, None)
        elif isinstance(target, ast.Attribute):
            self._bind_attribute(target, value, names)
        elif isinstance(target, ast.Subscript):
            self._bind_item(target, value, names)
        elif isinstance(target, ast.Starred):
            rest = Value(marks=value.marks, pending=value.pending)
            self._bind(target.value, rest, names, None)

    def _bind_attribute(self, target: ast.Attribute, value: Value, names: Names) -> None:
        names[spelled(target)] = value
        if isinstance(target.value, ast.Name) and target.value.id in names:
            base = names[target.value.id]
            names[target.value.id] = replace(base, fields={**base.fields, target.attr: value})
        if target.attr == "autocommit" and value.text == "True":
            self.implicit = 0
        elif target.attr == "autocommit" and value.text == "False":
            self.manual = True
        if naming.is_cursor(target.attr):
            dispatch.on_cursor(self, target.attr, value)

    def _bind_item(self, target: ast.Subscript, value: Value, names: Names) -> None:
        key = self.value(target.slice, names) if isinstance(target.slice, ast.expr) else UNKNOWN
        base = self.value(target.value, names)
        column = key.text or ""
        if not column:
            return
        name = target.value.id if isinstance(target.value, ast.Name) else ""
        after = dispatch.on_column(self, base, column, value, name=name)
        if isinstance(target.value, ast.Name):
            names[target.value.id] = after

    def _augment(self, node: ast.AugAssign, names: Names) -> None:
        value = self.value(node.value, names)
        if not isinstance(node.target, ast.Name):
            return
        before = names.get(node.target.id, UNKNOWN)
        if before.text is not None and isinstance(node.op, ast.Add) and before.kind == "text":
            text = before.text + self.text_or_hole(node.value, value)
            names[node.target.id] = replace(
                before, text=text[:60_000], marks=before.marks | value.marks
            )
        elif before.items is not None and isinstance(node.op, ast.Add):
            names[node.target.id] = replace(
                before,
                items=before.items + (value.items or ()),
                marks=before.marks | value.marks,
                pending=before.pending | value.pending,
            )
        else:
            names[node.target.id] = replace(
                before,
                text=None,
                marks=before.marks | value.all_marks(),
                pending=before.pending | value.all_pending(),
            )

    def _if_statement(self, node: ast.If, names: Names) -> None:
        self.value(node.test, names)
        test = spelled(node.test)[:300]
        if test.startswith("TYPE_CHECKING"):
            return
        absent = asks_for_absence(node.test, names)
        one, other = dict(names), dict(names)
        around = self.conditions
        self.conditions = [*around, test, *([LOOKED_UP] if absent else ())]
        self.block(node.body, one)
        self.conditions = [*around, "not " + test, *([LOOKED_UP] if absent is False else ())]
        self.block(node.orelse, other)
        self.conditions = around
        merge(names, one, other, test)

    def _for(self, node: ast.For | ast.AsyncFor, names: Names) -> None:
        source = self.value(node.iter, names)
        items = source.items
        if items and len(items) <= 12 and any(one.text or one.items or one.fields for one in items):  # noqa: PLR2004
            self.loop += len(items) == 1
            for one in items:
                self._bind(node.target, one, names, None)
                self.block(node.body, names)
            self.loop -= len(items) == 1
        else:
            marks = source.marks | (joined(items) if items else frozenset())
            other = Value(marks=marks, flags=source.flags, pending=source.all_pending())
            element = items[0] if items and len(items) == 1 else other
            self._bind(node.target, element, names, None)
            self._loop(node.body, names)
        self.block(node.orelse, names)

    def _loop(self, body: Sequence[ast.stmt], names: Names) -> None:
        self.loop += 1
        self.block(body, names)
        self.loop -= 1

    def _with(self, node: ast.With | ast.AsyncWith, names: Names) -> None:
        before = self.transaction
        dag_before = self.current_dag
        for item in node.items:
            value = self.value(item.context_expr, names)
            if dispatch.opens_transaction(self, item.context_expr, value):
                self.transaction = self.new_transaction()
            if value.kind == "dag":
                self.current_dag = value
            if item.optional_vars is not None:
                self._bind(item.optional_vars, value, names, item.context_expr)
        self.block(node.body, names)
        self.transaction = before
        self.current_dag = dag_before

    def _try(self, node: ast.stmt, names: Names) -> None:
        if not isinstance(node, ast.Try):
            return
        self.block(node.body, names)
        self.handler += 1
        for handler in node.handlers:
            self.block(handler.body, dict(names))
        self.handler -= 1
        self.block(node.orelse, names)
        self.block(node.finalbody, names)

    # Calls

    def called(self, node: ast.Call, dotted: str, names: Names) -> Value:
        """What a call gives, and what it does on the way."""
        if dotted.startswith(spark.FUNCTIONS) and not spark.looks_into(dotted):
            # An expression of columns, made of its arguments and nothing else.
            args, keywords = self.arguments(node, names)
            values = (*args, *keywords.values())
            return spark.expression(dotted, joined(values), shaping(values))
        call = self._described(node, dotted, names)
        known = dispatch.on_call(self, call)
        if known is not None:
            return known
        if dotted.startswith(spark.FUNCTIONS):
            return Value(marks=call.marks, pending=call.pending)
        function = self._own_function(call)
        if function is not None:
            return self.inline(function, call)
        marks = call.marks | call.receiver.marks | self._callee_marks(call)
        kind = call.receiver.kind if call.receiver.kind in {"frame", "connection", "cursor"} else ""
        flags = call.receiver.flags | ({"looked-up"} if call.method in LOOKUPS else frozenset())
        value = Value(marks=marks, kind=kind, flags=flags, pending=call.pending)
        if self.tape.task and (self.is_discarded(node) or id(node) in self._returned):
            dispatch.on_left_to_others(self, call)
        return dispatch.on_unknown(self, call, value)

    def _callee_marks(self, call: Call) -> frozenset[Mark]:
        """A lambda or a user-defined function under a name draws what its body draws."""
        func = call.node.func
        known = call.names.get(func.id) if isinstance(func, ast.Name) else None
        return known.marks if known is not None else frozenset()

    def _described(self, node: ast.Call, dotted: str, names: Names) -> Call:
        receiver = UNKNOWN
        if isinstance(node.func, ast.Attribute):
            receiver = self.value(node.func.value, names)
        elif not isinstance(node.func, ast.Name):
            receiver = self.value(node.func, names)
        args, keywords = self.arguments(node, names)
        method = (
            node.func.attr if isinstance(node.func, ast.Attribute) else dotted.rsplit(".", 1)[-1]
        )
        return Call(
            node=node,
            module=self.module,
            dotted=dotted,
            method=method,
            receiver=receiver,
            args=tuple(args),
            keywords=keywords,
            names=names,
        )

    def _own_function(self, call: Call) -> Function | None:
        func = call.node.func
        if isinstance(func, ast.Name):
            return self.module.functions.get(func.id)
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
            if func.value.id in {"self", "cls"}:
                for methods in self.module.methods.values():
                    if func.attr in methods:
                        return methods[func.attr]
            methods = self.module.methods.get(call.receiver.name.rsplit(".", 1)[-1], {})
            return methods.get(func.attr)
        return None

    def inline(self, function: Function, call: Call) -> Value:
        """Go through a function of the module as if its body stood here."""
        self.inlined.add(function.name)
        self._inlined_calls += 1
        if (
            function.name in self._stack
            or len(self._stack) >= _DEEPEST_INLINED
            or self._inlined_calls > _MOST_INLINED
        ):
            return Value(marks=call.marks)
        names = self._parameters(function, call)
        return self.run_function(function, names)

    def run_function(self, function: Function, names: Names) -> Value:
        """Go through a function's body; what it returns is known afterwards."""
        self._stack.append(function.name)
        alert = function.name in self.callbacks or any(
            is_alert_name(spelled(one)) for one in function.decorator_list
        )
        self._alerts += alert
        before, self._returns = self._returns, []
        conditions, self.conditions = self.conditions, list(self.conditions)
        self.block(function.body, names)
        returned = self._returns
        self._returns, self.conditions = before, conditions
        self._stack.pop()
        self._alerts -= alert
        value = returned[0] if returned else UNKNOWN
        for one in returned[1:]:
            value = either(value, one)
        if not self._stack:
            # What an entry point gives back is stored by whoever runs it.
            self.tape.flush(value.all_pending())
        return value

    def _parameters(self, function: Function, call: Call) -> Names:
        names = self.names_for(function)
        arguments = function.args
        parameters = [*arguments.posonlyargs, *arguments.args]
        if parameters and parameters[0].arg in {"self", "cls"}:
            names.update({key: one for key, one in call.names.items() if key.startswith("self.")})
            parameters = parameters[1:]
        for parameter, value in zip(parameters, call.args, strict=False):
            names[parameter.arg] = value
        for parameter in [*parameters, *arguments.kwonlyargs]:
            if parameter.arg in call.keywords:
                names[parameter.arg] = call.keywords[parameter.arg]
        return names

    def names_for(self, function: Function) -> Names:
        """The names that a function starts with: globals, and parameters with their defaults."""
        names = dict(self.globals)
        arguments = function.args
        parameters = [*arguments.posonlyargs, *arguments.args]
        for parameter in [*parameters, *arguments.kwonlyargs]:
            names.pop(parameter.arg, None)
            names.setdefault(parameter.arg, self.parameter(parameter.arg))
        defaults = arguments.defaults
        for parameter, default in zip(
            parameters[len(parameters) - len(defaults) :], defaults, strict=True
        ):
            value = self.value(default, names)
            known = value.text not in {None, "None", ""} or bool(value.name)
            if known and not value.has("clock"):
                names[parameter.arg] = value
        return names

    def parameter(self, name: str) -> Value:
        """What a parameter's name alone tells."""
        return dispatch.parameter(self, name)

    # Guards that stand around a spot

    def guard(self) -> str:
        """Why what is done here is not done twice, by the conditions around it; or nothing."""
        return "a check that it was not done before" if checked_before(self.conditions) else ""

    def is_discarded(self, node: ast.Call) -> bool:
        """Whether nobody looks at what the call gives."""
        return id(node) in self._discarded

    def in_alert(self) -> bool:
        """Whether this stands in a function or task that tells of failures."""
        return (
            bool(self._alerts)
            or self.tape.alert
            or any(is_alert_name(name) for name in self._stack)
        )

    def frame_attribute(self, base: Value, node: ast.Attribute) -> Value:
        """An attribute of a frame: its writer, or one of its columns."""
        return spark.attribute(base, node.attr) or base.data()

    def combined(self, node: ast.BinOp, left: Value, right: Value, marks: frozenset[Mark]) -> Value:
        """`a >> b` orders tasks; anything else joins marks."""
        known = orchestrators.combined(self, node, left, right)
        return known if known is not None else super().combined(node, left, right, marks)

    def selected(self, base: Value, key: Value, node: ast.Subscript) -> Value:
        """`frame[condition]` filters; `frame["column"]` is a column."""
        if base.kind != "frame":
            return Value(marks=base.marks, pending=base.pending)
        if key.text is not None:
            return base.data()
        source = spelled(node.slice)[:300]
        absent = (source.startswith("~") and "isin" in source) or "left_only" in source
        anti = ("anti",) if absent else ()
        return base.data(*anti).shaped(key.all_marks(), "filter")

    def inside(self) -> tuple[str, ...]:
        """The names of the functions that are being gone through."""
        return tuple(self._stack)

    def first_iteration(self) -> bool:
        """Whether this stands in the arm of a loop's first round."""
        return bool(self.loop) and first_round(self.conditions)

    def record(self, write: Write, *data: Value) -> None:
        """Record a write with what surrounds it, and what shaped the data written."""
        if write.how not in _REMOVES:
            self.tape.flush(shaping(data), write.table)
        guard = write.guard or self.guard()
        if guard != write.guard or self.loop or self.batched:
            write = replace(write, guard=guard, looped=bool(self.loop), batched=bool(self.batched))
        self.tape.write(write)
