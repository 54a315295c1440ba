"""What becomes of a range that was written aside: compared, published, or discarded."""

from __future__ import annotations

import os
import socket
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from setpoint.backfilling.plan import make_backfill_plan
from setpoint.backfilling.request import Request
from setpoint.backfilling.selecting import Choice
from setpoint.backfilling.shadowing import publishing_task, shadow_name, shadow_table
from setpoint.engine.protocol import Token
from setpoint.errors import UsageError
from setpoint.ledger.instant import from_text
from setpoint.ledger.opening import open_ledger
from setpoint.ledger.record import Outcome
from setpoint.ledger.writer import new_run_id
from setpoint.model.window import union
from setpoint.running.lease_keeper import LeaseKeeper
from setpoint.running.loading import open_project
from setpoint.running.project_run import spark_engine
from setpoint.running.runner import outcome_detail

if TYPE_CHECKING:
    from collections.abc import Callable

    from setpoint.backfilling.plan import BackfillPlan, TaskPlan
    from setpoint.engine.protocol import BackfillEngine
    from setpoint.ledger.backfill import Backfill
    from setpoint.ledger.protocol import Ledger
    from setpoint.model.comparison import Comparison
    from setpoint.model.window import Window
    from setpoint.project.project import Project

PUBLISHED, DISCARDED = "published", "discarded"


@dataclass(frozen=True, kw_only=True)
class Published:
    """One table's range, put in place."""

    task: str
    windows: int
    rows: int
    replaced: int
    snapshot: str

    def document(self) -> dict[str, object]:
        """As documented for `--output json`."""
        return dict(vars(self))


@dataclass(frozen=True, kw_only=True)
class Shadow:
    """A backfill that was written aside, with what is needed to deal with it."""

    project: Project
    record: Backfill
    plan: BackfillPlan
    engine: BackfillEngine
    ledger: Ledger

    def compare(self) -> dict[str, Comparison]:
        """By task, how its shadow differs from what readers have."""
        return {
            each.task.name: self.engine.compare(
                each.task,
                shadow_table(each.task.target, self.record.backfill_id),
                windows_of(each),
            )
            for each in self.plan.tasks
        }

    def publish(self) -> list[Published]:
        """Put each range in place, upstream first: one commit a table."""
        self._refuse_unfinished()
        with ExitStack() as held, LeaseKeeper(self.ledger) as keeper:
            for each in self.plan.tasks:
                held.enter_context(keeper.holding(each.task, union(windows_of(each))))
            for each in self.plan.tasks:
                self._refuse_overtaken(each)
            done = [self._publish(each) for each in self.plan.tasks]
        self.ledger.backfills.note(self.record.backfill_id, shadow=PUBLISHED)
        self.drop()
        return done

    def discard(self) -> list[str]:
        """Drop the shadows."""
        dropped = self.drop()
        self.ledger.backfills.note(self.record.backfill_id, shadow=DISCARDED)
        if self.record.state not in ("succeeded", "failed", "cancelled"):
            self.ledger.backfills.end(self.record.backfill_id, "cancelled")
        return dropped

    def drop(self) -> list[str]:
        """Remove the tables that nobody reads any more."""
        tables = [
            shadow_table(each.task.target, self.record.backfill_id) for each in self.plan.tasks
        ]
        for table in tables:
            self.engine.drop(table)
        return [str(table) for table in tables]

    def _publish(self, plan: TaskPlan) -> Published:
        task = plan.task
        windows = windows_of(plan)
        token = Token(run_id=new_run_id(), fence=self.ledger.take_fence())
        # An earlier try may have died between its commit and the ledger; setting the range again
        # from the same shadow leaves the same rows.
        publishing = publishing_task(task, self.record.backfill_id)
        outcome = self.engine.carry_out_batch(publishing, windows, token)
        # The code and the inputs are those of the shadow, not of the copy.
        name = shadow_name(task.name, self.record.backfill_id)
        (made,) = self.ledger.latest(name, state="succeeded", limit=1)
        inputs = made.detail.get("inputs")
        detail = {
            **outcome_detail(replace(outcome, partitions={})),
            "inputs": inputs if isinstance(inputs, dict) else {},
            "backfill": self.record.backfill_id,
        }
        self.ledger.record_many(
            [
                Outcome(
                    task=task.name,
                    window_start=count.window.start,
                    window_end=count.window.end,
                    target=str(task.target),
                    fingerprint=made.fingerprint,
                    state="succeeded",
                    rows=count.rows,
                    snapshot=outcome.snapshot,
                    detail={**detail, "replaced": count.replaced},
                )
                for count in outcome.windows
            ],
            pid=os.getpid(),
            host=socket.gethostname(),
        )
        return Published(
            task=task.name,
            windows=len(windows),
            rows=outcome.rows,
            replaced=outcome.replaced or 0,
            snapshot=outcome.snapshot or "",
        )

    def _refuse_unfinished(self) -> None:
        for each in self.plan.tasks:
            name = shadow_name(each.task.name, self.record.backfill_id)
            if each.start is None or each.end is None:
                continue
            known = self.ledger.standings(name, each.start, each.end)
            good = sum(standing.state == "succeeded" for standing in known)
            if good != len(each.windows):
                raise UsageError(
                    f"{len(each.windows) - good:,} of {len(each.windows):,} windows of "
                    f"{each.task.name} are not written aside yet",
                    next_step=f"setpoint backfill resume {self.record.backfill_id}",
                )

    def _refuse_overtaken(self, plan: TaskPlan) -> None:
        """A run that set some of the range meanwhile would be undone, unseen by the diff."""
        if plan.start is None or plan.end is None:
            return
        since = self.record.since
        for standing in self.ledger.standings(plan.task.name, plan.start, plan.end):
            if standing.fence <= since or standing.state != "succeeded":
                continue
            start, end = map(from_text, (standing.window_start, standing.window_end))
            run = self.ledger.scope(plan.task.name, start, end)
            # Its own, if an earlier publication died on its way.
            if run is None or run.detail.get("backfill") != self.record.backfill_id:
                raise UsageError(
                    f"{plan.task.name} {standing.window_start} was set again while the range was "
                    "written aside; publishing would undo that",
                    next_step=f"setpoint backfill discard {self.record.backfill_id}, then back "
                    "fill again",
                )


def windows_of(plan: TaskPlan) -> list[Window]:
    """The windows of a plan."""
    return [window for window in plan.windows if window]


def compare_shadow(
    backfill_id: str, *, folder: Path | str = ".", say: Callable[[str], None]
) -> dict[str, Comparison]:
    """By task, how what was written aside differs from what readers have."""
    with _ledger(folder) as ledger:
        return open_shadow(backfill_id, folder, ledger, say).compare()


def publish_shadow(
    backfill_id: str, *, folder: Path | str = ".", say: Callable[[str], None]
) -> list[Published]:
    """Put what was written aside in place: one commit a table, upstream first."""
    with _ledger(folder) as ledger:
        return open_shadow(backfill_id, folder, ledger, say).publish()


def discard_shadow(
    backfill_id: str, *, folder: Path | str = ".", say: Callable[[str], None]
) -> list[str]:
    """Drop what was written aside; readers never saw it."""
    with _ledger(folder) as ledger:
        return open_shadow(backfill_id, folder, ledger, say).discard()


def open_shadow(
    backfill_id: str,
    folder: Path | str,
    ledger: Ledger,
    say: Callable[[str], None],
    *,
    engine: BackfillEngine | None = None,
) -> Shadow:
    """The shadow of a backfill; refused when there is none any more."""
    project = open_project(Path(folder))
    record = ledger.backfills.find(backfill_id)
    state = record.detail.get("shadow")
    if state is None:
        raise UsageError(
            f"backfill {record.backfill_id} was not written aside; there is nothing to publish",
            next_step="setpoint backfill … --shadow writes a range aside",
        )
    if state in (PUBLISHED, DISCARDED):
        raise UsageError(f"backfill {record.backfill_id} is {state} already")
    plan = make_backfill_plan(
        project.graph,
        Request.of_document(record.request),
        standings=lambda _task, _start, _end: [],
        choice=lambda _task: Choice(reprocess="completed"),
        verdict=lambda _task: None,
    )
    return Shadow(
        project=project,
        record=record,
        plan=plan,
        engine=engine or spark_engine(project.settings, say=say),
        ledger=ledger,
    )


def _ledger(folder: Path | str) -> Ledger:
    from setpoint.project.project import open_settings

    settings = open_settings(Path(folder))
    return open_ledger(settings.ledger_url, root=settings.root, create=True)
