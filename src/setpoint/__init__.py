"""Setpoint: data pipelines on Spark that are safe to run twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from setpoint.version import __version__ as __version__

if TYPE_CHECKING:
    from setpoint.effects.once import ProcessedEvents, once
    from setpoint.effects.outside import send_once
    from setpoint.effects.processed import process_once
    from setpoint.engine.spark.key import surrogate_key
    from setpoint.engine.spark.levels import levels
    from setpoint.errors import EffectRefused, SetpointError, Transient
    from setpoint.model.counter import CounterAsSet
    from setpoint.model.hidden_input import Allow
    from setpoint.model.idempotency_key import idempotency_key
    from setpoint.model.key import surrogate_key_of
    from setpoint.model.receiver import call, email, http, publish, slack, webhook
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
    "CounterAsSet": "setpoint.model.counter",
    "EffectRefused": "setpoint.errors",
    "ProcessedEvents": "setpoint.effects.once",
    "SetpointError": "setpoint.errors",
    "Source": "setpoint.model.source",
    "Transient": "setpoint.errors",
    "Window": "setpoint.model.window",
    "call": "setpoint.model.receiver",
    "email": "setpoint.model.receiver",
    "http": "setpoint.model.receiver",
    "idempotency_key": "setpoint.model.idempotency_key",
    "levels": "setpoint.engine.spark.levels",
    "merge": "setpoint.model.write",
    "once": "setpoint.effects.once",
    "overwrite": "setpoint.model.write",
    "process_once": "setpoint.effects.processed",
    "publish": "setpoint.model.receiver",
    "replace": "setpoint.model.write",
    "run_project": "setpoint.running.project_run",
    "send_once": "setpoint.effects.outside",
    "slack": "setpoint.model.receiver",
    "surrogate_key": "setpoint.engine.spark.key",
    "surrogate_key_of": "setpoint.model.key",
    "task": "setpoint.project.declaration",
    "webhook": "setpoint.model.receiver",
}

__all__ = [
    "Allow",
    "Backoff",
    "CounterAsSet",
    "EffectRefused",
    "ProcessedEvents",
    "SetpointError",
    "Source",
    "Transient",
    "Window",
    "call",
    "email",
    "http",
    "idempotency_key",
    "levels",
    "merge",
    "once",
    "overwrite",
    "process_once",
    "publish",
    "replace",
    "run_project",
    "send_once",
    "slack",
    "surrogate_key",
    "surrogate_key_of",
    "task",
    "webhook",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'setpoint' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
