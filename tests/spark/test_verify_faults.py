"""Planted tasks, verified on copies: each broken one is caught, no sound one is accused."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest
from tests.spark.conftest import Bench
from tests.verify.case import Case, cases
from tests.verify.tally import TALLY, named_causes

from setpoint.engine.spark.trial_engine import TrialEngine
from setpoint.project.project import Project, load_project
from setpoint.project.settings import read_settings
from setpoint.verifying.check import chosen_checks
from setpoint.verifying.project_verification import verify_task

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from setpoint.verifying.verdict import Verdict

pytestmark = pytest.mark.spark
EVERY = "SETPOINT_EVERY_CHECK" in os.environ
BROKEN, SOUND = cases("broken/tasks"), cases("sound/tasks")
# Those that take a JVM of their own, or are much like others, wait for `make verify-faults`.
TRIED = [case for case in BROKEN if EVERY or not case.slow]
TRUSTED = [case for case in SOUND if EVERY or not case.slow]
# Weights whose sum depends on its order, statuses that tie, and a day a month ago.
ORDERS = """
SELECT id AS order_id, id % 7 AS customer_id,
       element_at(array('north', 'south', 'east'), CAST(id % 3 + 1 AS INT)) AS region,
       element_at(array('new', 'paid'), CAST(id % 2 + 1 AS INT)) AS status,
       CAST(id AS DECIMAL(10,2)) AS amount, power(10, id % 11) / (id + 1) AS weight,
       timestamp_seconds(unix_seconds(TIMESTAMP '2026-04-24 00:00:00Z') + id * 720
                         - CASE WHEN id % 5 = 0 THEN 30 * 86400 ELSE 0 END) AS ordered_at
FROM range(0, 240, 1, 4)
"""


def test_there_are_enough_planted_cases() -> None:
    """Forty broken ones and forty sound ones at least, also without the slow ones."""
    assert len(TRIED) + len(cases("broken/scripts")) >= 40
    assert len(TRUSTED) + len(cases("sound/scripts")) >= 40


class Laboratory:
    """All planted tasks in one project."""

    def __init__(self, root: object) -> None:
        self.bench = Bench(root)  # type: ignore[arg-type]
        for case in [*BROKEN, *SOUND]:
            shutil.copy(case.path, self.bench.root / "pipelines" / case.path.name)
        self.bench.table("lake.raw.orders", ORDERS)
        for case in BROKEN:
            if case.needs:
                self.bench.table(case.needs, "SELECT CAST(1 AS BIGINT) AS order_id")
        self.project: Project = load_project(self.bench.root)
        self.engine = TrialEngine(read_settings(self.bench.root), say=lambda _text: None)

    def verdict(self, case: Case) -> Verdict:
        """Verify the task of a case."""
        return verify_task(
            self.project,
            self.project.graph.task(case.name),
            engine=self.engine,
            ds="2026-04-25",
            checks=chosen_checks(() if EVERY else case.checks, command=False),
        )


@pytest.fixture(scope="module")
def laboratory(jvm: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Laboratory:  # noqa: ARG001 — the JVM must be up
    """The project with the planted tasks."""
    return Laboratory(tmp_path_factory.mktemp("planted"))


@pytest.mark.parametrize("case", TRIED, ids=lambda case: case.name)
def test_a_broken_task_is_caught_and_its_cause_is_named(
    case: Case, laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The verdict is no, and the cause is the right one."""
    for name, value in case.variables.items():
        monkeypatch.setenv(name, value)
    verdict = laboratory.verdict(case)
    TALLY.add_broken(case, verdict)
    assert verdict.error is None
    assert not verdict.idempotent
    assert case.causes & named_causes(verdict), (case.causes, verdict.failures)


@pytest.mark.parametrize("case", TRUSTED, ids=lambda case: case.name)
def test_a_sound_task_is_not_accused(
    case: Case, laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every check that was made passes."""
    for name, value in case.variables.items():
        monkeypatch.setenv(name, value)
    verdict = laboratory.verdict(case)
    TALLY.add_sound(case, verdict)
    assert verdict.error is None
    assert verdict.idempotent, verdict.failures
