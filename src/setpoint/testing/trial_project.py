"""A project to test with: the real tasks, and lakes of their own that are thrown away."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from setpoint.errors import UsageError
from setpoint.ledger.memory import MemoryLedger
from setpoint.model.plan import Dates, make_plan
from setpoint.model.table import TableName
from setpoint.project.project import Project, load_project
from setpoint.running.runner import Runner
from setpoint.verifying.check import chosen_checks
from setpoint.verifying.project_verification import trial_engine, verify_task

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from setpoint.running.result import RunResult
    from setpoint.verifying.verdict import Verdict


class TrialProject:
    """The tasks of a project over empty lakes in a scratch folder, with a ledger in memory."""

    def __init__(self, root: Path, scratch: Path) -> None:
        loaded = load_project(root, allow_unsafe_retry=True)
        catalogs = {
            name: replace(each, warehouse=scratch / name)
            if each.embedded
            else each  # a server's tables are as they are: tests should name a server of their own
            for name, each in loaded.settings.catalogs.items()
        }
        settings = replace(
            loaded.settings, catalogs=catalogs, ledger_url="memory:", state_folder=scratch / "state"
        )
        self.loaded = Project(settings=settings, graph=loaded.graph)
        self.engine = trial_engine(settings, say=lambda _text: None)
        self.ledger = MemoryLedger()

    @property
    def spark(self) -> Any:
        """The project's Spark session: its catalogs are the scratch ones."""
        return self.engine.spark

    def table(self, name: str, rows: Sequence[Mapping[str, Any]] | str | Any) -> None:
        """Create or replace a table from rows, a query, or a DataFrame."""
        self.engine.create_table(TableName.parse(name), rows)

    def rows(self, query: str) -> list[dict[str, Any]]:
        """The rows of a table, or of a query."""
        text = query if " " in query.strip() else f"SELECT * FROM {query}"  # noqa: S608
        return [row.asDict(recursive=True) for row in self.spark.sql(text).collect()]

    def run(self, task: str, ds: str | None = None) -> RunResult:
        """Run one task, without what it depends on; raises when it fails."""
        self._task(task)
        plan = make_plan(self.loaded.graph, select=[task], dates=Dates(ds=ds))
        steps = tuple(replace(step, depends_on=()) for step in plan.steps if step.task.name == task)
        results = Runner(engine=self.engine, ledger=self.ledger).run(replace(plan, steps=steps))
        for result in results:
            if result.error is not None:
                raise result.error
        return results[-1]

    def verify(self, task: str, *, ds: str | None = None, checks: Sequence[str] = ()) -> Verdict:
        """The verdict on one task."""
        return verify_task(
            self.loaded,
            self._task(task),
            engine=self.engine,
            ds=ds,
            checks=chosen_checks(checks, command=False),
        )

    def _task(self, name: str) -> Any:
        if name not in self.loaded.graph.tasks:
            known = ", ".join(self.loaded.graph.tasks) or "none"
            raise UsageError(f"there is no task {name}", next_step=f"known: {known}")
        return self.loaded.graph.task(name)
