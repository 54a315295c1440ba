"""Task files in Python."""

from __future__ import annotations

import difflib
import hashlib
import importlib.util
import inspect
import re
import sys
import traceback
from typing import TYPE_CHECKING

from setpoint.errors import Fault
from setpoint.model.hidden_input import Allow
from setpoint.model.retry import Backoff
from setpoint.model.source import Source
from setpoint.model.write import merge, overwrite, replace
from setpoint.project.declaration import Declaration, gathering, task

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Any

OPTIONS: dict[str, Callable[..., Any]] = {
    option.__name__: option for option in (task, Source, overwrite, merge, replace, Allow, Backoff)
}
UNKNOWN = re.compile(r"(\w+)(?:\.__init__)?\(\) got an unexpected keyword argument '(\w+)'")
NO_SESSION = "SESSION_OR_CONTEXT_NOT_EXISTS"
BARE = re.compile(r"task\(\) takes 0 positional arguments")


def read_python_file(path: Path, root: Path) -> tuple[list[Declaration], list[Fault]]:
    """Import a file and gather the tasks that it declares."""
    shown = path.relative_to(root)
    # A name of its own for each file: two folders may both hold an orders.py.
    name = f"setpoint_task_{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        return [], [Fault(path=shown, message="is not a Python file")]
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    with gathering() as gathered:
        try:
            spec.loader.exec_module(module)
        except SyntaxError as error:
            line = error.lineno if error.filename == str(path) else None
            return [], [Fault(path=shown, line=line, message=f"does not parse: {error.msg}")]
        except ModuleNotFoundError as error:
            return [], [_import_fault(error, path, shown, _install(error.name))]
        except (Exception, SystemExit) as error:  # noqa: BLE001 — a stranger's code may raise anything
            wrong = misused(error)
            message, fix = wrong or (None, None)
            return [], [_import_fault(error, path, shown, fix, message)]
    # A task that was imported from another task file is that file's.
    return [d for d in gathered if d.path == path], []


def _install(module: str | None) -> str | None:
    if module and module.partition(".")[0] == "pyspark":
        return 'pip install "setpoint[spark]"'
    return f"pip install the package that holds {module!r}" if module else None


def misused(error: BaseException) -> tuple[str, str] | None:
    """What is wrong with a call of `task`, `Source`, Spark's own and so on, and what was meant."""
    text = str(error)
    if NO_SESSION in text:
        fix = (
            "give types as objects, @udf(StringType()) for @udf('string'); or move the call into "
            "the task, which is given `spark` when it names it"
        )
        return "asks for Spark while it is imported, and tasks are loaded without it", fix
    if not isinstance(error, TypeError):
        return None
    if BARE.match(text):
        return "@task is used without its options", "@task(target=…, …): at least a target"
    if text.startswith("task() missing"):
        return "@task names no target", '@task(target="lake.shop.orders", …)'
    found = UNKNOWN.match(text)
    words = OPTIONS.get(found[1]) if found else None
    if found is None or words is None:
        return None
    known = tuple(inspect.signature(words).parameters)
    near = difflib.get_close_matches(found[2], known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
    return f"{found[1]}(…) has no option {found[2]!r}", hint


def _import_fault(
    error: BaseException, path: Path, shown: Path, fix: str | None, message: str | None = None
) -> Fault:
    frames = traceback.extract_tb(error.__traceback__)
    line = next((f.lineno for f in reversed(frames) if f.filename == str(path)), None)
    told = message or f"does not import: {type(error).__name__}: {error}"
    return Fault(path=shown, line=line, message=told, fix=fix)
