"""The fingerprint of a task's code: changes when its meaning may, not when its layout does."""

from __future__ import annotations

import ast
import hashlib
import inspect
import json
import textwrap
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setpoint.model.transform import PythonTransform

if TYPE_CHECKING:
    from setpoint.project.declaration import Declaration

LENGTH = 16
CONSTANTS = (str, bytes, int, float, bool, type(None), tuple, list, dict, set, frozenset)


def fingerprint(declaration: Declaration, root: Path) -> str:
    """A short hash over what the task declares and the code that it reaches in the project."""
    declared = {
        "name": declaration.name,
        "target": declaration.target,
        "grain": declaration.grain,
        "timezone": declaration.timezone,
        "write": repr(declaration.write),
        "partition_by": declaration.partition_by,
        "unique_key": list(declaration.unique_key),
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
    """The code of a function and of the project's own things that it names."""
    function = inspect.unwrap(function)
    if id(function) in seen:
        return []
    seen.add(id(function))
    parts = [_code_text(function)]
    names = sorted(_names(function.__code__))
    for name in names:
        if name in function.__globals__:
            parts += _value_text(name, function.__globals__[name], root, seen)
    if function.__closure__:
        for name, cell in zip(function.__code__.co_freevars, function.__closure__, strict=True):
            parts += _value_text(name, cell.cell_contents, root, seen)
    return parts


def _value_text(name: str, value: Any, root: Path, seen: set[int]) -> list[str]:  # noqa: PLR0911
    if isinstance(value, types.ModuleType):
        source = getattr(value, "__file__", None)
        if source and _inside(source, root):
            return [f"{name}={_file_text(Path(source))}"]
        return []
    if isinstance(value, types.FunctionType):
        if _inside(value.__code__.co_filename, root):
            return [name, *_reachable(value, root, seen)]
        return []
    if isinstance(value, type):
        source = inspect.getsourcefile(value) if value.__module__ != "builtins" else None
        return [f"{name}={_code_text(value)}"] if source and _inside(source, root) else []
    if isinstance(value, CONSTANTS):
        return [f"{name}={value!r}"]
    return []


def _names(code: types.CodeType) -> set[str]:
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names(constant)
    return names


def _code_text(thing: Any) -> str:
    try:
        return _without_docstrings(textwrap.dedent(inspect.getsource(thing)))
    except (OSError, TypeError, SyntaxError, IndentationError):
        code = getattr(thing, "__code__", None)
        return repr((code.co_code, code.co_consts)) if code else repr(thing)


def _file_text(path: Path) -> str:
    try:
        return _without_docstrings(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, UnicodeDecodeError):
        return str(path)


def _without_docstrings(source: str) -> str:
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            node.decorator_list = []
            if ast.get_docstring(node) is not None:
                node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


def _inside(file: str, root: Path) -> bool:
    path = Path(file).resolve()
    return path.is_relative_to(root.resolve()) and "site-packages" not in path.parts
