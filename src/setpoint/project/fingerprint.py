"""The fingerprint of a task's code: changes when its meaning may, not when its layout does."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import inspect
import json
import re
import sys
import textwrap
import types
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setpoint.model.transform import PythonTransform

if TYPE_CHECKING:
    from setpoint.project.declaration import Declaration

LENGTH = 16
SCALARS = (str, bytes, int, float, type(None), Decimal, date, time, timedelta, range, re.Pattern)


def fingerprint(declaration: Declaration, root: Path) -> str:
    """A short hash over what the task declares and the code that it reaches in the project."""
    key = declaration.unique_key
    declared = {
        "name": declaration.name,
        "target": declaration.target,
        "grain": declaration.grain,
        "timezone": declaration.timezone,
        "write": repr(declaration.write),
        "partition_by": declaration.partition_by,
        "unique_key": [key] if isinstance(key, str) else list(key),
        "version": declaration.version,
        "sources": {name: repr(source) for name, source in declaration.sources.items()},
        "checks": dict(declaration.checks),
        "rows": [declaration.min_rows, declaration.max_rows],
    }
    if isinstance(declaration.transform, PythonTransform):
        code = _reachable(declaration.transform.function, root, set())
    else:
        from setpoint.project.select_text import significant_text

        code = [significant_text(declaration.transform.statement)]
    text = json.dumps([declared, code], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:LENGTH]


def _reachable(function: Any, root: Path, seen: set[int]) -> list[str]:
    """The code of a function, of what wraps it, and of the project's own things that they name."""
    parts: list[str] = []
    layers = _layers(function)
    for layer in layers:
        theirs = layer is not layers[-1] and not _inside(layer.__code__.co_filename, root)
        if theirs or id(layer) in seen:
            continue
        seen.add(id(layer))
        parts.append(_code_text(layer))
        for name in sorted(_names(layer.__code__)):
            if name in layer.__globals__:
                parts += _value_text(name, layer.__globals__[name], root, seen)
        for name, cell in zip(layer.__code__.co_freevars, layer.__closure__ or (), strict=True):
            parts += _value_text(name, cell.cell_contents, root, seen)
    return parts


def _layers(function: Any) -> list[types.FunctionType]:
    """A function and the ones that it wraps, outermost first."""
    innermost = inspect.unwrap(function)  # also refuses a circle
    layers = [function]
    while layers[-1] is not innermost:
        layers.append(layers[-1].__wrapped__)
    return [layer for layer in layers if isinstance(layer, types.FunctionType)]


def _value_text(name: str, value: Any, root: Path, seen: set[int]) -> list[str]:
    if isinstance(value, types.ModuleType):
        return [name, *_module_text(value, root, seen)]
    if isinstance(value, type):
        source = inspect.getsourcefile(value) if value.__module__ != "builtins" else None
        return [f"{name}={_code_text(value)}"] if source and _inside(source, root) else []
    if isinstance(value, (Enum, SCALARS)):
        return [f"{name}={value!r}"]
    if isinstance(value, (list, tuple, dict, set, frozenset)):
        return [f"{name}={type(value).__name__}", *_items_text(value, root, seen)]
    # Another task, or a function: bare, or inside something like a cache or a UDF of Spark's.
    transform = getattr(value, "transform", None)
    function = transform.function if isinstance(transform, PythonTransform) else value
    if callable(function) and any(
        _inside(layer.__code__.co_filename, root) for layer in _layers(function)
    ):
        return [name, *_reachable(function, root, seen)]
    return []


def _items_text(value: Any, root: Path, seen: set[int]) -> list[str]:
    """The items of a collection; those of a set in an order that no hash seed decides."""
    if isinstance(value, dict):
        pairs = [part for pair in value.items() for part in pair]
        return [text for part in pairs for text in _value_text("", part, root, seen)]
    texts = ["".join(_value_text("", item, root, seen)) for item in value]
    return sorted(texts) if isinstance(value, (set, frozenset)) else texts


def _module_text(module: types.ModuleType, root: Path, seen: set[int]) -> list[str]:
    """The text of a module of the project, and of those that it imports."""
    source = getattr(module, "__file__", None)
    if not source or id(module) in seen or not _inside(source, root):
        return []
    seen.add(id(module))
    texts = [_file_text(Path(source))]
    for name in sorted(_imported(texts[0], module.__package__ or "")):
        if name in sys.modules:
            texts += _module_text(sys.modules[name], root, seen)
    return texts


def _imported(text: str, package: str) -> set[str]:
    names: set[str] = set()
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except SyntaxError:  # not Python: its path stands for it
        return names
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            names |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
    return names


def _names(code: types.CodeType) -> set[str]:
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names(constant)
    return names


def _code_text(thing: Any) -> str:
    code = getattr(thing, "__code__", None)
    try:
        # By its code: from a function, `getsource` would go on to what it wraps.
        return _without_docstrings(textwrap.dedent(inspect.getsource(code or thing)))
    except (OSError, TypeError, SyntaxError):  # no file, or a lambda in the middle of a line
        return _compiled_text(code) if code else thing.__qualname__


def _compiled_text(code: types.CodeType) -> str:
    constants = [
        _compiled_text(each) if isinstance(each, types.CodeType) else repr(each)
        for each in code.co_consts
    ]
    return repr((code.co_code, code.co_names, constants))


def _file_text(path: Path) -> str:
    try:
        return _without_docstrings(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, UnicodeDecodeError):
        return str(path)


def _without_docstrings(source: str) -> str:
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            node.decorator_list = [each for each in node.decorator_list if not _declares(each)]
            if ast.get_docstring(node) is not None:
                node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


def _declares(decorator: ast.expr) -> bool:
    """Whether this is `@task(…)`: what it says is told apart, field by field."""
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return getattr(called, "id", getattr(called, "attr", None)) == "task"


def _inside(file: str, root: Path) -> bool:
    path = Path(file).resolve()
    return path.is_relative_to(root.resolve()) and "site-packages" not in path.parts
