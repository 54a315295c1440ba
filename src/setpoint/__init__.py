"""Setpoint: data pipelines on Spark that are safe to run twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from setpoint.version import __version__ as __version__

if TYPE_CHECKING:
    from setpoint.backfilling.project_backfill import backfill
    from setpoint.engine.spark.key import surrogate_key
    from setpoint.errors import SetpointError, Transient
    from setpoint.model.hidden_input import Allow
    from setpoint.model.key import surrogate_key_of
    from setpoint.model.retry import Backoff
    from setpoint.model.source import Source
    from setpoint.model.window import Window
    from setpoint.model.write import merge, overwrite, replace
    from setpoint.project.declaration import task
    from setpoint.running.project_run import run_project


# Each name is imported when it is first asked for: `setpoint --help` pays for none of them.
_HOMES = {
    "Allow": "setpoint.model.hidden_input",
    "Backoff": "setpoint.model.retry",
    "SetpointError": "setpoint.errors",
    "Source": "setpoint.model.source",
    "Transient": "setpoint.errors",
    "Window": "setpoint.model.window",
    "backfill": "setpoint.backfilling.project_backfill",
    "merge": "setpoint.model.write",
    "overwrite": "setpoint.model.write",
    "replace": "setpoint.model.write",
    "run_project": "setpoint.running.project_run",
    "surrogate_key": "setpoint.engine.spark.key",
    "surrogate_key_of": "setpoint.model.key",
    "task": "setpoint.project.declaration",
}

__all__ = [
    "Allow",
    "Backoff",
    "SetpointError",
    "Source",
    "Transient",
    "Window",
    "backfill",
    "merge",
    "overwrite",
    "replace",
    "run_project",
    "surrogate_key",
    "surrogate_key_of",
    "task",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'setpoint' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
