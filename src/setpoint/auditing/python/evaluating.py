"""Python expressions → what is known of their value; nothing is run."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from setpoint.auditing.python.modules import spelled
from setpoint.auditing.python.sources import LOGICAL, mark_of_call, mark_of_subscript
from setpoint.auditing.python.values import UNKNOWN, Mark, Value, either, joined, shaping

if TYPE_CHECKING:
    from collections.abc import Callable

    from setpoint.auditing.python.modules import Module

Names = dict[str, Value]

_MOST_TEXT = 60_000
_DEEPEST = 60
_PERCENT = re.compile(r"%(?:\((\w+)\))?[-+ #0]*\d*(?:\.\d+)?([sdifr])")
_BRACE = re.compile(r"\{(\w*)(?:[.\[][^{}]*)?(?:![rsa])?(?::[^{}]*)?\}")
_SAME_TEXT = frozenset({"strip", "lstrip", "rstrip", "lower", "upper", "expandtabs", "as_string"})
_TEXT_METHODS = _SAME_TEXT | {"format", "join", "replace", "isoformat"}
_WRAPPERS = frozenset(
    {"text", "dedent", "cleandoc", "str", "SQL", "Composed", "literal_column", "TextClause", "DDL"}
)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp)


_KNOWN = re.compile(
    r"not in \(?\w*(?:exist|seen|known|processed|loaded|done|stored|present|already|previous)"
    r"|not in .*\bfetchall\(|not in .*\bdistinct\("
)


def _leaves_known_out(generators: list[ast.comprehension]) -> bool:
    """Whether a comprehension keeps only what the target does not hold yet."""
    return any(_KNOWN.search(spelled(test)) for one in generators for test in one.ifs)


class Evaluator:
    """Knows what expressions of one module can be told to mean."""

    def __init__(self, module: Module, *, seeded: bool) -> None:
        self.module = module
        self.seeded = seeded
        self.holes: dict[int, tuple[str, Value]] = {}
        self._hole_numbers: dict[tuple[str, frozenset[Mark]], int] = {}
        self._depth = 0
        self._kinds: dict[type[ast.expr], Callable[[ast.expr, Names], Value]] = {
            ast.Constant: self._constant,
            ast.JoinedStr: self._joined_string,
            ast.Name: self._name,
            ast.Attribute: self._attribute,
            ast.BinOp: self._binary,
            ast.BoolOp: self._boolean,
            ast.IfExp: self._if,
            ast.Dict: self._dict,
            ast.List: self._sequence,
            ast.Tuple: self._sequence,
            ast.Set: self._sequence,
            ast.Subscript: self._subscript,
            ast.Call: self._call,
            ast.Compare: self._compare,
            ast.Lambda: self._lambda,
            ast.NamedExpr: self._walrus,
            ast.DictComp: self._dict_comprehension,
        }

    def value(self, node: ast.expr | None, names: Names) -> Value:
        """What is known of an expression."""
        if node is None or self._depth > _DEEPEST:
            return UNKNOWN
        self._depth += 1
        try:
            known = self._kinds.get(type(node))
            if known is not None:
                return known(node, names)
            if isinstance(node, _COMPREHENSIONS):
                return self._comprehension(node, names)
            return self._other(node, names)
        finally:
            self._depth -= 1

    def hole(self, source: str, value: Value) -> str:
        """A name that stands for a value inside a SQL text; one source text has one name.

        Unless other things flowed into it: another function's `day` may be another day.
        """
        flowed = (source, value.all_marks())
        number = self._hole_numbers.setdefault(flowed, 1000 + len(self._hole_numbers))
        self.holes.setdefault(number, (source, value))
        return f"__h{number}__"

    def text_or_hole(self, node: ast.expr, value: Value) -> str:
        """The value's text, or a name that stands for it."""
        if value.text is not None and not value.marks:
            return value.text
        return self.hole(spelled(node)[:120], value)

    def called(self, node: ast.Call, dotted: str, names: Names) -> Value:
        """What a call gives; overridden by those who know more calls."""
        del dotted
        return Value(marks=joined(self.arguments(node, names)[0]))

    def arguments(self, node: ast.Call, names: Names) -> tuple[list[Value], dict[str, Value]]:
        """The values of a call's arguments."""
        positional = [
            self.value(one.value if isinstance(one, ast.Starred) else one, names)
            for one in node.args
        ]
        keywords: dict[str, Value] = {}
        for word in node.keywords:
            known = self.value(word.value, names)
            if word.arg:
                keywords[word.arg] = known
            else:
                keywords.update(known.fields)
        return positional, keywords

    def _constant(self, node: ast.expr, names: Names) -> Value:
        del names
        constant = node.value if isinstance(node, ast.Constant) else None
        if isinstance(constant, str):
            return Value(text=constant[:_MOST_TEXT], kind="text", line=node.lineno)
        if isinstance(constant, bool) or constant is None:
            return Value(text=str(constant), kind="constant")
        if isinstance(constant, (int, float)):
            return Value(text=str(constant), kind="number")
        return UNKNOWN

    def _joined_string(self, node: ast.expr, names: Names) -> Value:
        parts: list[str] = []
        marks: frozenset[Mark] = frozenset()
        for part in node.values if isinstance(node, ast.JoinedStr) else ():
            if isinstance(part, ast.FormattedValue):
                value = self.value(part.value, names)
                marks |= value.all_marks()
                parts.append(self._formatted_part(part, value))
            elif isinstance(part, ast.Constant):
                parts.append(str(part.value))
        return Value(text="".join(parts)[:_MOST_TEXT], marks=marks, kind="text", line=node.lineno)

    def _formatted_part(self, part: ast.FormattedValue, value: Value) -> str:
        if part.format_spec is None:
            return self.text_or_hole(part.value, value)
        spec = spelled(part.format_spec)[2:-1]
        return self.hole(f"{spelled(part.value)[:80]}:{spec[:40]}", value)

    def _name(self, node: ast.expr, names: Names) -> Value:
        name = node.id if isinstance(node, ast.Name) else ""
        known = names.get(name)
        if known is not None:
            return known
        if LOGICAL.match(name):
            return Value(marks=frozenset({Mark("logical", self.module.spot(node), name)}))
        if name in self.module.imports:
            return Value(name=self.module.imports[name])
        return UNKNOWN

    def _attribute(self, node: ast.expr, names: Names) -> Value:
        if not isinstance(node, ast.Attribute):
            return UNKNOWN
        whole = names.get(spelled(node)) if isinstance(node.value, ast.Name) else None
        if whole is not None:
            return whole
        base = self.value(node.value, names)
        if node.attr in base.fields:
            return base.fields[node.attr]
        if LOGICAL.match(node.attr) and base.kind != "task":
            return Value(marks=frozenset({Mark("logical", self.module.spot(node), node.attr)}))
        if base.kind in {"writer", "frame"} or node.attr in {"write", "writeStream"}:
            return self.frame_attribute(base, node)
        if base.name and base.kind == "":
            return Value(marks=base.marks, name=f"{base.name}.{node.attr}", pending=base.pending)
        return Value(marks=base.marks, pending=base.pending)

    def frame_attribute(self, base: Value, node: ast.Attribute) -> Value:
        """An attribute of a data frame; overridden by those who know frames."""
        del node
        return replace(base, text=None, items=None)

    def _binary(self, node: ast.expr, names: Names) -> Value:
        if not isinstance(node, ast.BinOp):
            return UNKNOWN
        left, right = self.value(node.left, names), self.value(node.right, names)
        marks = left.all_marks() | right.all_marks()
        if isinstance(node.op, ast.Mod) and left.text is not None:
            filled = self._percent(left.text, node.right, right)
            return Value(text=filled[:_MOST_TEXT], marks=marks, kind="text", line=left.line)
        if isinstance(node.op, (ast.Add, ast.Div)) and (
            left.kind == "text" or right.kind == "text"
        ):
            between = "/" if isinstance(node.op, ast.Div) else ""
            parts = (self.text_or_hole(node.left, left), self.text_or_hole(node.right, right))
            text = between.join(parts)
            return Value(text=text[:_MOST_TEXT], marks=marks, kind="text", line=left.line)
        if isinstance(node.op, ast.Add) and left.items is not None and right.items is not None:
            return Value(items=left.items + right.items, marks=marks)
        return self.combined(node, left, right, marks)

    def combined(self, node: ast.BinOp, left: Value, right: Value, marks: frozenset[Mark]) -> Value:
        """Other operators; overridden by those who know tasks."""
        del node
        kind = left.kind if left.kind == right.kind and left.kind != "number" else ""
        return Value(marks=marks, kind=kind, pending=shaping([left, right]))

    def _percent(self, text: str, node: ast.expr, value: Value) -> str:
        nodes = node.elts if isinstance(node, ast.Tuple) else [node]
        at = 0

        def fill(match: re.Match[str]) -> str:
            nonlocal at
            if match.group(1):
                known = value.fields.get(match.group(1), UNKNOWN)
                if known.text is not None and not known.marks:
                    return known.text
                return self.hole(match.group(1), known)
            if at >= len(nodes):
                return match.group(0)
            one = value.items[at] if value.items and at < len(value.items) else value
            part = self.text_or_hole(nodes[at], one)
            at += 1
            return part

        return _PERCENT.sub(fill, text)

    def formatted(
        self, text: str, node: ast.Call, positional: list[Value], keywords: dict[str, Value]
    ) -> str:
        """`text.format(…)` with what is known filled in."""
        at = 0

        def fill(match: re.Match[str]) -> str:
            nonlocal at
            key = match.group(1)
            if key and not key.isdigit():
                value = keywords.get(key, UNKNOWN)
                return (
                    value.text
                    if value.text is not None and not value.marks
                    else self.hole(key, value)
                )
            index = int(key) if key else at
            at += not key
            if index >= len(positional) or index >= len(node.args):
                return match.group(0)
            return self.text_or_hole(node.args[index], positional[index])

        return (
            _BRACE.sub(fill, text.replace("{{", "\x01").replace("}}", "\x02"))
            .replace("\x01", "{")
            .replace("\x02", "}")
        )

    def _boolean(self, node: ast.expr, names: Names) -> Value:
        if not isinstance(node, ast.BoolOp):
            return UNKNOWN
        values = [self.value(one, names) for one in node.values]
        if isinstance(node.op, ast.Or):
            # `given or today()`: the caller can say the date, so the clock is only a default.
            first = values[0]
            if first.text is None and not first.has("clock"):
                return replace(first, text=None)
        return Value(marks=joined(values), pending=shaping(values))

    def _if(self, node: ast.expr, names: Names) -> Value:
        if not isinstance(node, ast.IfExp):
            return UNKNOWN
        self.value(node.test, names)
        one, other = self.value(node.body, names), self.value(node.orelse, names)
        if one.has("clock") != other.has("clock") and not _is_text(one) and not _is_text(other):
            # `given if given else today()` likewise.
            return other if one.has("clock") else one
        return either(one, other)

    def _dict(self, node: ast.expr, names: Names) -> Value:
        fields: dict[str, Value] = {}
        for key, item in (
            zip(node.keys, node.values, strict=True) if isinstance(node, ast.Dict) else ()
        ):
            value = self.value(item, names)
            if key is None:
                fields.update(value.fields)
                continue
            known = self.value(key, names)
            fields[known.text if known.text is not None else spelled(key)] = value
        return Value(fields=fields, kind="dict")

    def _sequence(self, node: ast.expr, names: Names) -> Value:
        elements = node.elts if isinstance(node, (ast.List, ast.Tuple, ast.Set)) else []
        items = tuple(
            self.value(one.value if isinstance(one, ast.Starred) else one, names)
            for one in elements[:400]
        )
        return Value(items=items, kind="list")

    def _subscript(self, node: ast.expr, names: Names) -> Value:
        if not isinstance(node, ast.Subscript):
            return UNKNOWN
        mark = mark_of_subscript(node, self.module)
        if mark is not None:
            return Value(marks=frozenset({mark}))
        base = self.value(node.value, names)
        key = self.value(node.slice, names) if isinstance(node.slice, ast.expr) else UNKNOWN
        if key.text is not None:
            if key.text in base.fields:
                return base.fields[key.text]
            if LOGICAL.match(key.text):
                return Value(marks=frozenset({Mark("logical", self.module.spot(node), key.text)}))
            if base.items is not None and key.text.lstrip("-").isdigit():
                index = int(key.text)
                if -len(base.items) <= index < len(base.items):
                    return base.items[index]
        return self.selected(base, key, node)

    def selected(self, base: Value, key: Value, node: ast.Subscript) -> Value:
        """`frame[condition]`; overridden by those who know frames."""
        del node
        return Value(
            marks=base.marks | key.marks,
            kind=base.kind if base.kind == "frame" else "",
            pending=base.pending,
        )

    def _compare(self, node: ast.expr, names: Names) -> Value:
        if not isinstance(node, ast.Compare):
            return UNKNOWN
        return Value(marks=joined(self.value(one, names) for one in (node.left, *node.comparators)))

    def _lambda(self, node: ast.expr, names: Names) -> Value:
        if not isinstance(node, ast.Lambda):
            return UNKNOWN
        inner = {**names, **{one.arg: UNKNOWN for one in node.args.args}}
        return Value(marks=self.value(node.body, inner).all_marks(), kind="lambda")

    def _walrus(self, node: ast.expr, names: Names) -> Value:
        if not isinstance(node, ast.NamedExpr):
            return UNKNOWN
        value = self.value(node.value, names)
        names[node.target.id] = value
        return value

    def _comprehension(self, node: ast.expr, names: Names) -> Value:
        if not isinstance(node, _COMPREHENSIONS):
            return UNKNOWN
        inner = self.bound(node.generators, names)
        element = self.value(node.elt, inner)
        sources = shaping(self.value(one.iter, inner) for one in node.generators)
        flags = frozenset({"anti"}) if _leaves_known_out(node.generators) else frozenset()
        return Value(items=(element,), kind="list", pending=sources, flags=flags)

    def _dict_comprehension(self, node: ast.expr, names: Names) -> Value:
        if not isinstance(node, ast.DictComp):
            return UNKNOWN
        inner = self.bound(node.generators, names)
        return Value(marks=joined([self.value(node.key, inner), self.value(node.value, inner)]))

    def bound(self, generators: list[ast.comprehension], names: Names) -> Names:
        """The names inside a comprehension."""
        inner = dict(names)
        for generator in generators:
            source = self.value(generator.iter, inner)
            for one in ast.walk(generator.target):
                if isinstance(one, ast.Name):
                    inner[one.id] = Value(marks=source.marks, pending=source.pending)
        return inner

    def _other(self, node: ast.expr, names: Names) -> Value:
        marks: frozenset[Mark] = frozenset()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                marks |= self.value(child, names).all_marks()
        return Value(marks=marks)

    def _call(self, node: ast.expr, names: Names) -> Value:
        if not isinstance(node, ast.Call):
            return UNKNOWN
        dotted = self.module.dotted(node.func)
        mark = mark_of_call(node, dotted, self.module, seeded=self.seeded)
        if mark is not None:
            self.arguments(node, names)
            return Value(marks=frozenset({mark}))
        as_text = self._text_call(node, dotted, names)
        return as_text if as_text is not None else self.called(node, dotted, names)

    def _text_call(self, node: ast.Call, dotted: str, names: Names) -> Value | None:
        last = dotted[dotted.rfind(".") + 1 :]
        if last in _WRAPPERS and node.args and isinstance(node.func, (ast.Name, ast.Attribute)):
            inner = self.value(node.args[0], names)
            if inner.text is not None:
                return inner
            return Value(marks=inner.all_marks()) if last == "str" else None
        if not isinstance(node.func, ast.Attribute):
            return None
        method = node.func.attr
        if method not in _TEXT_METHODS:
            return None
        base = self.value(node.func.value, names)
        if base.text is None:
            return None
        positional, keywords = self.arguments(node, names)
        marks = base.marks | joined([*positional, *keywords.values()])
        if method == "format":
            text = self.formatted(base.text, node, positional, keywords)
            # A template filled in here is run here, wherever it was written down.
            flags = base.flags if base.line >= node.lineno else base.flags | {"filled"}
            return replace(base, text=text[:_MOST_TEXT], marks=marks, flags=flags)
        if method == "replace" and len(positional) > 1 and positional[0].text is not None:
            filled = self.text_or_hole(node.args[1], positional[1])
            return replace(
                base, text=base.text.replace(positional[0].text, filled)[:_MOST_TEXT], marks=marks
            )
        if method in {"strip", "lstrip", "rstrip"}:
            given = positional[0].text if positional else None
            return replace(base, text=getattr(base.text, method)(given), marks=marks)
        if method == "join":
            return self._join(base.text, positional, marks)
        return replace(base, marks=marks)

    def _join(self, separator: str, positional: list[Value], marks: frozenset[Mark]) -> Value:
        items = positional[0].items if positional else None
        if items and all(one.text is not None for one in items):
            text = separator.join(one.text or "" for one in items)
            return Value(text=text[:_MOST_TEXT], marks=marks, kind="text")
        return Value(marks=marks)


def _is_text(value: Value) -> bool:
    return value.text is not None or bool(value.choices)
