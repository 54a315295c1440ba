"""Every failpoint in the code, found by reading it: none can be forgotten in a list."""

from __future__ import annotations

import ast
from pathlib import Path

import setpoint

SOURCE = Path(setpoint.__file__).parent


def failpoints() -> dict[str, str]:
    """The names of all failpoints, each with the file and line where it stands."""
    found: dict[str, str] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "failpoint(" not in text or path == SOURCE / "failpoint.py":
            continue
        for node in ast.walk(ast.parse(text)):
            if not (isinstance(node, ast.Call) and getattr(node.func, "id", "") == "failpoint"):
                continue
            name = node.args[0]
            place = f"{path.relative_to(SOURCE)}:{node.lineno}"
            if isinstance(name, ast.Constant):
                assert name.value not in found, f"{name.value} at {place} and {found[name.value]}"
                found[str(name.value)] = place
    return found
