"""The text of a task and of the project's own functions that it reaches."""

from __future__ import annotations

import ast
import inspect
import textwrap
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setpoint.model.transform import PythonTransform
from setpoint.verifying.code_reading import Reading, joined, read_python, read_sql

if TYPE_CHECKING:
    from collections.abc import Iterator

    from setpoint.model.task import Task


def read_task(task: Task, root: Path) -> Reading:
    """The clues in the code of a task."""
    if not isinstance(task.transform, PythonTransform):
        text, line = task.transform.text, task.transform.first_line
        return read_sql(text, path=str(task.path), first_line=line)
    return joined([_read(function, root) for function in _reached(task.transform.function, root)])


def task_text(task: Task, root: Path) -> str:
    """The code of a task as one text, without what its decorator declares."""
    if not isinstance(task.transform, PythonTransform):
        return task.transform.text
    return "\n".join(_body(each) for each in _reached(task.transform.function, root))


def _reached(function: Any, root: Path) -> Iterator[types.FunctionType]:
    """The function and those of the project that it names, each once."""
    waiting, seen = [function], set()
    while waiting:
        found = _bare(waiting.pop())
        if found is None or id(found) in seen or not _inside(found.__code__.co_filename, root):
            continue
        seen.add(id(found))
        yield found
        for name in _names(found.__code__):
            value = found.__globals__.get(name)
            if isinstance(value, types.ModuleType):
                waiting += [
                    each for each in vars(value).values() if isinstance(each, types.FunctionType)
                ]
            elif value is not None:
                waiting.append(value)


def _bare(value: Any) -> types.FunctionType | None:
    """The function itself, out of a decorator, a UDF or a task."""
    transform = getattr(value, "transform", None)
    if isinstance(transform, PythonTransform):
        value = transform.function
    value = getattr(value, "func", value)
    try:
        value = inspect.unwrap(value)
    except ValueError:
        return None
    return value if isinstance(value, types.FunctionType) else None


def _read(function: types.FunctionType, root: Path) -> Reading:
    text, line = _source(function)
    path = Path(function.__code__.co_filename).resolve()
    shown = path.relative_to(root.resolve()) if path.is_relative_to(root.resolve()) else path
    return read_python(text, path=str(shown), first_line=line)


def _source(function: types.FunctionType) -> tuple[str, int]:
    try:
        lines, first = inspect.getsourcelines(function.__code__)
    except (OSError, TypeError):
        return "", 1
    return textwrap.dedent("".join(lines)), first


def _body(function: types.FunctionType) -> str:
    tree = ast.parse(_source(function)[0])
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.decorator_list.clear()
    return ast.unparse(tree)


def _names(code: types.CodeType) -> set[str]:
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names(constant)
    return names


def _inside(file: str, root: Path) -> bool:
    path = Path(file).resolve()
    return path.is_relative_to(root.resolve()) and "site-packages" not in path.parts
