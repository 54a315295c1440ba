"""Starting a project: a folder that runs as it is."""

from __future__ import annotations

import re
from importlib import resources
from typing import TYPE_CHECKING

from setpoint.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_\-]*\Z")
FILES = {
    "setpoint.toml": "setpoint.toml",
    "gitignore": ".gitignore",
    "pipelines/sample_orders.py": "pipelines/sample_orders.py",
    "pipelines/orders.py": "pipelines/orders.py",
    "pipelines/revenue_daily.sql": "pipelines/revenue_daily.sql",
}


def start_project(folder: Path) -> list[Path]:
    """Write the starter's files into a folder; refuses to write over anything."""
    name = folder.resolve().name
    if not NAME.match(name):
        raise UsageError(
            f"{name!r} cannot be a project's name", next_step="use letters, digits, _ and -"
        )
    targets = {source: folder / target for source, target in FILES.items()}
    existing = next((path for path in targets.values() if path.exists()), None)
    if existing:
        raise UsageError(
            f"{existing} exists already; nothing was written",
            next_step="choose another name: setpoint init OTHER",
        )
    starter = resources.files("setpoint.project") / "starter"
    try:
        for source, path in targets.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            text = starter.joinpath(source).read_text(encoding="utf-8")
            path.write_text(text.replace("{name}", name), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror}") from None
    return list(targets.values())
