"""Readers of the mart while it is rewritten."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

import pytest

from setpoint.engine.protocol import Token
from setpoint.engine.spark.postgres.target import PostgresTarget
from setpoint.engine.spark.target import Writing
from setpoint.model.plan import Dates, make_plan
from setpoint.model.scope import ColumnKind, Kinds
from setpoint.project.project import load_project
from setpoint.project.settings import read_settings

if TYPE_CHECKING:
    from tests.spark.postgres.conftest import Mart

pytestmark = pytest.mark.spark
REPLACES = int(os.environ.get("SETPOINT_REPLACES", "60"))
"""`make soak` sets a thousand."""


def test_scenario_36_readers_never_see_an_empty_or_mixed_scope(shop: Mart) -> None:
    """B3: two readers poll while the day is replaced again and again; each sees old or new."""
    shop.ok("2026-04-25")
    step = make_plan(load_project(shop.root).graph, select=(), dates=Dates(ds="2026-04-25")).steps[
        0
    ]
    settings = read_settings(shop.root).connections["mart"]
    target = PostgresTarget(shop.spark, settings, step.task.target)
    done = threading.Event()
    seen: list[set[tuple[object, ...]]] = [set(), set()]

    def read(place: int) -> None:
        with shop.connect() as connection:
            while not done.is_set():
                row = connection.execute(
                    "SELECT count(*), min(orders) = max(orders), min(orders) FROM daily "
                    "WHERE order_date = '2026-04-25'"
                ).fetchone()
                seen[place].add(row or ())

    readers = [threading.Thread(target=read, args=(place,)) for place in range(2)]
    for reader in readers:
        reader.start()
    try:
        for number in range(REPLACES):
            frame = shop.spark.sql(
                f"SELECT DATE '2026-04-25' AS order_date, id AS customer, {number}L AS orders, "
                "CAST(1 AS DECIMAL(20,2)) AS revenue FROM range(12)"
            )
            state = target.state()
            assert state is not None
            target.write(
                Writing(
                    task=step.task,
                    frame=frame,
                    scope=None,
                    token=Token(run_id=f"r{number}", fence=1000 + number),
                    state=state,
                    window=step.window,
                    kinds=Kinds(target=ColumnKind.DATE),
                )
            )
    finally:
        done.set()
        for reader in readers:
            reader.join()
    together = seen[0] | seen[1]
    assert {(count, same) for count, same, _ in together} == {(12, True)}
    assert len(together) > REPLACES // 2
