"""A task's plan built by another Python, whose sets have another order."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from setpoint.model.window import Window

if TYPE_CHECKING:
    from setpoint.engine.spark.trial_engine import TrialEngine
    from setpoint.model.task import Task

SEEDS = ("4711", "815")
PATIENCE = 300


def difference_elsewhere(
    engine: TrialEngine, root: Path, task: Task, window: Window | None
) -> str | None:
    """Where the plan differs under another hash seed, in words; None when it does not."""
    here = engine.plan_lines(task, window)
    # A Python that was given a seed must not be compared with itself.
    seed = next(each for each in SEEDS if each != os.environ.get("PYTHONHASHSEED"))
    asked = {
        "root": str(root),
        "task": task.name,
        "window": window.key if window else None,
        "zone": window.zone if window else "UTC",
    }
    done = subprocess.run(
        [sys.executable, "-m", "setpoint.verifying.hash_seed", json.dumps(asked)],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    if done.returncode:
        return None
    there = json.loads(done.stdout.splitlines()[-1])
    if here == there:
        return None
    one, other = next(
        ((a, b) for a, b in zip(here, there, strict=False) if a != b), ("a plan", "another")
    )
    return f"under another hash seed the plan is another: {one.strip()} became {other.strip()}"


def main() -> None:
    """Print the plan's lines as JSON, for the process that asked."""
    from setpoint.project.project import load_project
    from setpoint.verifying.project_verification import trial_engine

    asked = json.loads(sys.argv[1])
    project = load_project(Path(asked["root"]), allow_unsafe_retry=True)
    engine = trial_engine(project.settings, say=lambda _text: None)
    window = Window.parse_key(asked["window"], zone=asked["zone"]) if asked["window"] else None
    lines = engine.plan_lines(project.graph.task(asked["task"]), window)
    print(json.dumps(lines))  # noqa: T201 — what was asked for


if __name__ == "__main__":
    main()
