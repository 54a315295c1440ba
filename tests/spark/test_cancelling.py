"""Stopping an attempt's Spark jobs from another thread."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest

from setpoint.engine.protocol import Token
from setpoint.errors import RunError
from setpoint.model.plan import Dates, make_plan
from setpoint.project.project import load_project

if TYPE_CHECKING:
    from tests.spark.conftest import Bench

pytestmark = pytest.mark.spark
PATIENCE = 60
SLOW = """
@task(target="lake.shop.slow", write=replace())
def slow(spark):
    started = {started!r}
    def wait(number):
        import pathlib, time
        pathlib.Path(started).touch()
        time.sleep(600)
        return number
    return spark.range(1).select(F.udf(wait, "long")("id").alias("id"))
"""


def test_scenario_14_an_attempt_that_lost_its_lease_can_be_stopped_in_its_job(bench: Bench) -> None:
    """Its job ends at once, nothing is committed, and another attempt's jobs are left alone."""
    started = bench.root / "started"
    bench.python(SLOW.format(started=str(started)))
    (step,) = make_plan(load_project(bench.root).graph, select=(), dates=Dates()).steps
    token, other = Token(run_id="mine", fence=1), Token(run_id="mine", fence=2)
    errors: list[RunError] = []

    def attempt() -> None:
        try:
            bench.engine.carry_out(step.task, step.window, token)
        except RunError as error:
            errors.append(error)

    thread = threading.Thread(target=attempt)
    thread.start()
    until = time.monotonic() + PATIENCE
    while not started.exists() and time.monotonic() < until:
        time.sleep(0.05)
    bench.engine.cancel(other)
    assert thread.is_alive()
    bench.engine.cancel(token)
    thread.join(PATIENCE)
    assert not thread.is_alive()
    assert len(errors) == 1
    assert bench.count("lake.shop.slow") == 0
