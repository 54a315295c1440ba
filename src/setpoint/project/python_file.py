"""Task files in Python."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
import traceback
from typing import TYPE_CHECKING

from setpoint.errors import Fault
from setpoint.project.declaration import Declaration, gathering

if TYPE_CHECKING:
    from pathlib import Path


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
            return [], [_import_fault(error, path, shown, None)]
    # A task that was imported from another task file is that file's.
    return [d for d in gathered if d.path == path], []


def _install(module: str | None) -> str | None:
    if module and module.partition(".")[0] == "pyspark":
        return 'pip install "setpoint[spark]"'
    return f"pip install the package that holds {module!r}" if module else None


def _import_fault(error: BaseException, path: Path, shown: Path, fix: str | None) -> Fault:
    frames = traceback.extract_tb(error.__traceback__)
    line = next((f.lineno for f in reversed(frames) if f.filename == str(path)), None)
    return Fault(
        path=shown, line=line, message=f"does not import: {type(error).__name__}: {error}", fix=fix
    )
