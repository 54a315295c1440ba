"""Replaying a run: the same task and window, on exactly what it read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setpoint.errors import UsageError
from setpoint.model.plan import Plan, Step
from setpoint.model.window import Window

if TYPE_CHECKING:
    from setpoint.ledger.record import Run
    from setpoint.model.graph import Graph


def replay_plan(graph: Graph, run: Run) -> Plan:
    """The plan of one step that reads the snapshots which the run recorded."""
    task = graph.task(run.task)
    if run.state != "succeeded":
        raise UsageError(
            f"run {run.run_id} of {run.task} {run.state}: what it read is not recorded",
            next_step=f"setpoint history {run.task} lists the runs that succeeded",
        )
    recorded = run.detail.get("inputs")
    inputs = recorded if isinstance(recorded, dict) else {}
    zone = task.grain.zone if task.grain else "UTC"
    window = None
    if run.window_start and run.window_end:
        window = Window(start=run.window_start, end=run.window_end, zone=zone)
    as_of = {table: str(snapshot) for table, snapshot in inputs.items()}
    notes = [f"reading what run {run.run_id} read: {_listed(as_of)}"]
    if run.fingerprint != task.fingerprint:
        notes.append(f"{task.name}: its code has changed since that run")
    return Plan(steps=(Step(task=task, window=window, as_of=as_of),), notes=tuple(notes))


def _listed(as_of: dict[str, str]) -> str:
    return ", ".join(f"{table} at {snapshot}" for table, snapshot in as_of.items()) or "no sources"
