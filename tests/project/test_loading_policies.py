"""What a project's tasks say of keys, retries and late rows, checked when they are loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from setpoint.errors import ProjectError, UsageError
from setpoint.ledger.record import Run
from setpoint.model.explanation import explain
from setpoint.model.plan import Dates, make_plan
from setpoint.model.scope import Kinds
from setpoint.project.project import Project, load_project
from setpoint.running.project_run import plan_project
from setpoint.running.replaying import replay_plan

if TYPE_CHECKING:
    from pathlib import Path

TASK = """
from setpoint import *

@task(target="lake.shop.orders", grain="day", write={write}, {more}
      sources={{"raw": Source("lake.raw.orders", event_time="at"{arrival})}})
def orders(raw):
    return raw
"""


def _load(
    root: Path,
    more: str = "",
    *,
    write: str = "overwrite(by='d')",
    arrival: str = "",
    allow_unsafe_retry: bool = False,
) -> Project:
    (root / "setpoint.toml").write_text('[project]\nname = "test"\n')
    (root / "pipelines").mkdir(exist_ok=True)
    text = TASK.format(more=f"{more}," if more else "", write=write, arrival=arrival)
    (root / "pipelines" / "orders.py").write_text(text)
    return load_project(root, allow_unsafe_retry=allow_unsafe_retry)


def _faults(root: Path, more: str, **how: str) -> list[str]:
    with pytest.raises(ProjectError) as caught:
        _load(root, more, **how)  # type: ignore[arg-type]
    return [f"{fault.message} → {fault.fix}" for fault in caught.value.faults]


@pytest.mark.parametrize(
    ("more", "write"),
    [
        ("unique_key='email'", "overwrite(by='d')"),
        ("", "merge(on=['tenant_id', 'email'], version='v')"),
    ],
)
def test_a_key_that_people_change_is_warned_of_in_the_plan(
    tmp_path: Path, more: str, write: str
) -> None:
    """C1: no error; a note of the plan and of explain."""
    project = _load(tmp_path, more, write=write)
    plan = make_plan(project.graph, select=(), dates=Dates(ds="2026-04-25"))
    assert any("orders: the key has email, which can change" in note for note in plan.notes)
    task = project.graph.task("orders")
    shown = dict(explain(task, plan.steps[0].window, project.graph, known=Kinds()).lines)["key"]
    assert "which can change" in shown[1]


def test_a_stable_key_is_not_warned_of(tmp_path: Path) -> None:
    """Nothing to say."""
    project = _load(tmp_path, "unique_key='order_id'")
    assert make_plan(project.graph, select=(), dates=Dates(ds="2026-04-25")).notes == ()


def test_retries_of_what_is_not_known_to_be_idempotent_are_refused(tmp_path: Path) -> None:
    """F2: with what to fix, and the written way out."""
    more = "retries=2, allow={'rand': 'a sample', 'first': 'any will do'}"
    (fault,) = _faults(tmp_path, more)
    assert "retries=2, but it may use rand" in fault
    assert "--allow-unsafe-retry" in fault
    assert _load(tmp_path, more, allow_unsafe_retry=True).graph.task("orders").retry.retries == 2
    assert _load(tmp_path, "allow={'rand': 'a sample'}").graph.task("orders").retry.retries == 0
    assert _load(tmp_path, "retries=2").graph.task("orders").retry.retries == 2


@pytest.mark.parametrize(
    ("more", "arrival", "words"),
    [
        ("lookback=-1", "", "lookback must be 0 or more"),
        ("late='drop'", "", "is not a policy"),
        ("late='exclude'", "", "cannot tell which rows are late"),
        ("late='exclude', lookback=1", ", arrival_time='loaded'", "either reopened or excluded"),
    ],
)
def test_a_late_policy_that_makes_no_sense_is_refused(
    tmp_path: Path, more: str, arrival: str, words: str
) -> None:
    """D4: told at load, with what to write."""
    assert words in _faults(tmp_path, more, arrival=arrival)[0]


def test_lookback_reopens_windows_in_the_plan(tmp_path: Path) -> None:
    """D4: the windows before the first, oldest first, and the plan says so."""
    graph = _load(tmp_path, "lookback=2").graph
    plan = make_plan(graph, select=(), dates=Dates(ds="2026-04-25"))
    assert [step.label for step in plan.steps] == ["2026-04-23", "2026-04-24", "2026-04-25"]
    assert "orders: lookback=2 also reopens 2026-04-23, 2026-04-24" in plan.notes
    ranged = make_plan(graph, select=(), dates=Dates(start="2026-04-20", end="2026-04-23"))
    labels = [step.label for step in ranged.steps]
    assert labels == ["2026-04-18", "2026-04-19", "2026-04-20", "2026-04-21", "2026-04-22"]


def test_a_replay_says_when_the_code_has_changed(tmp_path: Path) -> None:
    """D6: the snapshots are the old ones, the code is not."""
    project = _load(tmp_path)
    window = make_plan(project.graph, select=(), dates=Dates(ds="2026-04-25")).steps[0].window
    assert window is not None
    run = Run(
        run_id="abc",
        task="orders",
        window_start=window.start,
        window_end=window.end,
        target="lake.shop.orders",
        fingerprint="other",
        state="succeeded",
        attempts=1,
        fence=1,
        started_at=window.end,
        detail={"inputs": {"lake.raw.orders": "7"}},
        pid=1,
        host="here",
    )
    plan = replay_plan(project.graph, run)
    assert (plan.steps[0].window, plan.steps[0].as_of) == (window, {"lake.raw.orders": "7"})
    assert plan.notes == (
        "reading what run abc read: lake.raw.orders at 7",
        "orders: its code has changed since that run",
    )


def test_a_replay_takes_no_other_dates(tmp_path: Path) -> None:
    """The run names its task and window."""
    project = _load(tmp_path)
    with pytest.raises(UsageError, match="names its own task and window"):
        plan_project(project, select=(), dates=Dates(ds="2026-04-25"), as_of_run="abc")
    with pytest.raises(UsageError):
        plan_project(project, select=(), dates=Dates(), as_of_run="abc")
