"""Verifying the tasks of a project: the one way in, for the command line, pytest and Python."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from setpoint.errors import MissingExtra, SetpointError, UsageError
from setpoint.ledger.opening import open_ledger
from setpoint.ledger.verification import Verification
from setpoint.project.project import load_project
from setpoint.verifying.cause import WORDS, Clue, likely_cause
from setpoint.verifying.check import chosen_checks
from setpoint.verifying.plan_clues import plan_clues
from setpoint.verifying.recorder import Recorder
from setpoint.verifying.task_code import read_task, task_text
from setpoint.verifying.trial_windows import trial_windows
from setpoint.verifying.verdict import Finding, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from setpoint.engine.spark.trial_engine import TrialEngine
    from setpoint.ledger.protocol import Ledger
    from setpoint.model.analysis import Analysis
    from setpoint.model.graph import Graph
    from setpoint.model.settings import Settings
    from setpoint.model.task import Task
    from setpoint.project.project import Project


def verify_project(
    folder: Path | str = ".",
    *,
    tasks: Sequence[str] = (),
    ds: str | None = None,
    checks: Sequence[str] = (),
    changed_since: str | None = None,
    say: Callable[[str], None] = lambda _text: None,
) -> tuple[Verdict, ...]:
    """Verify tasks on copies of their targets, and keep the verdicts in the ledger.

    Args:
        folder: The project's folder, or one inside it.
        tasks: Names of tasks; all when none are named.
        ds: The date to run for; the development date when left out.
        checks: Names of checks; all when none are named.
        changed_since: A git commit: only tasks whose code was another there.
        say: Told of each step.
    """
    chosen = chosen_checks(checks, command=False)
    # No copy is ever retried, and what may be retried is what is to be found out here.
    project = load_project(Path(folder), allow_unsafe_retry=True)
    selected = [project.graph.task(name) for name in tasks] or list(project.graph.tasks.values())
    if not selected:
        raise UsageError(
            f"no tasks in {project.settings.pipelines}",
            next_step="add a .py or .sql task file there; `setpoint init` writes examples",
        )
    if changed_since is not None:
        from setpoint.verifying.changed import changed_tasks

        names = changed_tasks(project, changed_since)
        selected = [task for task in selected if task.name in names]
        if not selected:
            return ()
    order = [task.name for task in project.graph.upstream_first([t.name for t in selected])]
    selected.sort(key=lambda task: order.index(task.name))
    engine = trial_engine(project.settings, say=say)
    engine.start()
    settings = project.settings
    with open_ledger(settings.ledger_url, root=settings.root, create=True) as ledger:
        verdicts = []
        for task in selected:
            verdict = verify_task(
                project, task, engine=engine, ds=ds, checks=chosen, say=_named(say, task.name)
            )
            keep(ledger, verdict, chosen)
            verdicts.append(verdict)
    say("done")
    return tuple(_fed(verdict, verdicts, project.graph) for verdict in verdicts)


def verify_task(
    project: Project,
    task: Task,
    *,
    engine: TrialEngine,
    ds: str | None,
    checks: Sequence[str],
    say: Callable[[str], None] = lambda _text: None,
) -> Verdict:
    """Verify one task; what keeps it from running is told in the verdict."""
    from setpoint.verifying.copies import Copies
    from setpoint.verifying.trial import Trial

    begun, at = time.monotonic(), datetime.now(timezone.utc)
    windows = trial_windows(task, ds, checks)
    root = project.settings.root
    verdict = Verdict(
        subject=task.name,
        targets=(str(task.target),),
        findings=(),
        fingerprint=task.fingerprint,
        window=windows.main.label if windows.main else None,
        at=at,
    )
    recorder = Recorder()
    reading = read_task(task, root)
    try:
        say("reading its plan")
        with recorder.listening(), recorder.first_run():
            analysis = engine.analyse(replace(task, allow=()), windows.main)
    except SetpointError as error:
        return _without(verdict, error, begun)
    clues = plan_clues(analysis.hidden, reading.clues, path=f"{task.path}:{task.line}")
    findings = _plan_findings(task, analysis, clues, task_text(task, root), checks)
    pinned = _pinned(task, analysis)
    copies = Copies(engine, task, allow={found.function for found in analysis.hidden}, as_of=pinned)
    trial = Trial(
        copies=copies,
        windows=windows,
        checks=checks,
        reading=reading,
        clues=clues,
        recorder=recorder,
        key=task.unique_key,
        say=say,
        threaded=(os.cpu_count() or 1) > 1,
        other_hash_seed=lambda: _other_hash_seed(engine, project, task, windows.main),
    )
    try:
        if set(checks) - {"plan"}:
            trial.carry_out()
    except SetpointError as error:
        if not any(found.state == "failed" for found in findings):
            return _without(replace(verdict, runs=copies.runs), error, begun)
    finally:
        copies.drop()
    notes = []
    if trial.empty:
        notes.append("the window has no rows, so little was proven: give --ds a date with some")
    if pinned is None and task.sources:
        notes.append("sources are read as they are: not all of them keep snapshots to pin")
    order = list(checks)
    return replace(
        verdict,
        findings=tuple(
            sorted([*findings, *trial.findings], key=lambda found: order.index(found.check))
        ),
        seconds=time.monotonic() - begun,
        runs=copies.runs,
        checksum=trial.checksum,
        notes=tuple(notes),
    )


def trial_engine(settings: Settings, *, say: Callable[[str], None]) -> TrialEngine:
    """The engine that tries tasks out; says which extra is missing when it cannot be had."""
    try:
        from setpoint.engine.spark.trial_engine import TrialEngine as Found
    except ModuleNotFoundError as error:
        if error.name and error.name.partition(".")[0] in ("pyspark", "py4j"):
            raise MissingExtra("pyspark", "spark") from None
        raise
    return Found(settings, say=say)


def keep(ledger: Ledger, verdict: Verdict, checks: Sequence[str]) -> None:
    """Record a verdict under the task's code; no verdict is no record."""
    if verdict.error is None and verdict.at is not None:
        ledger.verifications.put(
            Verification(
                task=verdict.subject,
                fingerprint=verdict.fingerprint,
                idempotent=verdict.idempotent,
                at=verdict.at,
                window=verdict.window,
                checks=tuple(checks),
                failed=tuple(found.check for found in verdict.failures),
                cause=_main_cause(verdict),
                seconds=verdict.seconds,
            )
        )


def _main_cause(verdict: Verdict) -> str | None:
    main = verdict.main
    return main.cause.words if main and main.cause else None


def _without(verdict: Verdict, error: SetpointError, begun: float) -> Verdict:
    return replace(
        verdict,
        error=f"the task fails by itself: {error.message}",
        next_step=error.next_step,
        seconds=time.monotonic() - begun,
    )


def _plan_findings(
    task: Task, analysis: Analysis, clues: Sequence[Clue], text: str, checks: Sequence[str]
) -> list[Finding]:
    if "plan" not in checks:
        return []
    own = ".".join(task.target.parts)
    if own in analysis.inputs or own in text:
        clue = Clue(kind="own target", words=WORDS["own target"], where=f"{task.path}:{task.line}")
        cause = likely_cause("plan", None, [clue])
        return [Finding(check="plan", state="failed", found=f"it reads {own}", cause=cause)]
    allowed = {allow.function: allow.reason for allow in task.allow}
    pairs = list(zip(analysis.hidden, clues, strict=True))
    refused = [(f, clue) for f, clue in pairs if f.refused and f.function not in allowed]
    if refused:
        cause = likely_cause("plan", None, [refused[0][1]])
        words = "; ".join(str(found) for found, _ in refused)
        return [Finding(check="plan", state="failed", found=words, cause=cause)]
    if analysis.hidden:
        words = "; ".join(
            f"{found} ({allowed.get(found.function, 'depends on row order')})"
            for found in analysis.hidden
        )
        return [Finding(check="plan", state="noted", found=words)]
    return [Finding(check="plan", state="passed", found="its sources and its window alone")]


def _pinned(task: Task, analysis: Analysis) -> dict[str, str] | None:
    """The snapshot of every source, or None when one of them keeps none."""
    names = [".".join(source.table.parts) for source in task.sources]
    found = {name: analysis.inputs[name] for name in names if name in analysis.inputs}
    return found if names and len(found) == len(set(names)) else None


def _other_hash_seed(
    engine: TrialEngine, project: Project, task: Task, window: object
) -> str | None:
    from setpoint.verifying.hash_seed import difference_elsewhere

    return difference_elsewhere(engine, project.settings.root, task, window)  # type: ignore[arg-type]


def _named(say: Callable[[str], None], name: str) -> Callable[[str], None]:
    return lambda text: say(f"{name}: {text}")


def _fed(verdict: Verdict, verdicts: Sequence[Verdict], graph: Graph) -> Verdict:
    """A pipeline is as safe as its least safe step: name those upstream that are not."""
    unsafe = {each.subject for each in verdicts if each.error is None and not each.idempotent}
    upstream: set[str] = set()
    waiting = list(graph.upstream[verdict.subject])
    while waiting:
        name = waiting.pop()
        if name not in upstream:
            upstream.add(name)
            waiting += graph.upstream[name]
    return replace(verdict, fed_by=tuple(sorted(upstream & unsafe)))
