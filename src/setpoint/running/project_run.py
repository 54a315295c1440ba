"""Running a project's tasks: the one way in, for the command line and for Python."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from setpoint.errors import MissingExtra, UsageError
from setpoint.ledger.opening import open_ledger
from setpoint.model.plan import Dates, Plan, make_plan
from setpoint.running.listener import Listener, Silence
from setpoint.running.loading import open_project
from setpoint.running.replaying import replay_plan
from setpoint.running.runner import Runner

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from setpoint.engine.spark.engine import SparkEngine
    from setpoint.model.effect import Policy
    from setpoint.model.settings import Settings
    from setpoint.project.project import Project
    from setpoint.running.result import RunResult


def run_project(
    folder: Path | str = ".",
    *,
    select: Sequence[str] = (),
    ds: str | None = None,
    start: str | None = None,
    end: str | None = None,
    as_of_run: str | None = None,
    checksum: bool = False,
    allow_unsafe_retry: bool = False,
    effects: Policy | None = None,
    wait: bool = True,
    listener: Listener | None = None,
) -> tuple[RunResult, ...]:
    """Run the selected tasks (all when none are named) and what they depend on.

    Args:
        folder: The project's folder, or one inside it.
        select: Names of tasks.
        ds: The date to run for: the window of each task that this date lies in. For a grain
            within a day a date means all of its windows, a date with a time only one.
        start: The first instant of a range.
        end: The end of the range, exclusive.
        as_of_run: The id of an earlier run (or how it begins): run its task and window again, on
            exactly the source snapshots that it read.
        checksum: Compute the content checksum of each scope after its write.
        allow_unsafe_retry: Let tasks retry that are not known to be idempotent.
        effects: `send` what the tasks' effects have to say (also where it was skipped before),
            `skip` it, or `record` it for `setpoint effects send`. Left out: send, and leave
            skipped what was skipped.
        wait: Wait for another process that is at work on the same window; else it is refused.
        listener: Told of each step as it happens.
    """
    project = open_project(Path(folder), allow_unsafe_retry=allow_unsafe_retry)
    dates = Dates(ds=ds, start=start, end=end)
    plan = plan_project(project, select=select, dates=dates, as_of_run=as_of_run)
    listener = listener or Silence()
    engine = spark_engine(project.settings, say=listener.said)
    settings = project.settings
    # Looked at before Spark is started: a ledger that cannot be read is told at once.
    open_ledger(settings.ledger_url, root=settings.root, create=False).close()
    listener.planned(plan)
    # Before the ledger hears of anything: a missing Java is no failure of a window.
    engine.start()
    with open_ledger(settings.ledger_url, root=settings.root, create=True) as ledger:
        runner = Runner(
            engine=engine,
            ledger=ledger,
            listener=listener,
            checksum=checksum,
            effects=effects or "usual",
            lease_seconds=settings.lease_seconds,
            patient=wait,
        )
        return runner.run(plan)


def plan_project(
    project: Project, *, select: Sequence[str], dates: Dates, as_of_run: str | None = None
) -> Plan:
    """The plan for a project's tasks; refuses an empty project."""
    if not project.graph.tasks:
        raise UsageError(
            f"no tasks in {project.settings.pipelines}",
            next_step="add a .py or .sql task file there; `setpoint init` writes examples",
        )
    if as_of_run is not None:
        if select or dates.given:
            raise UsageError(
                "--as-of-run names its own task and window",
                next_step="leave --select, --ds, --start and --end out",
            )
        settings = project.settings
        with open_ledger(settings.ledger_url, root=settings.root, create=False) as ledger:
            return replay_plan(project.graph, ledger.run(as_of_run))
    return make_plan(project.graph, select=select, dates=dates)


def spark_engine(settings: Settings, *, say: Callable[[str], None]) -> SparkEngine:
    """The Spark engine; says which extra is missing when it cannot be had."""
    try:
        from setpoint.engine.spark.engine import SparkEngine as Found
    except ModuleNotFoundError as error:
        if error.name and error.name.partition(".")[0] in ("pyspark", "py4j"):
            raise MissingExtra("pyspark", "spark") from None
        raise
    return Found(settings, say=say)
