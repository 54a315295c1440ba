"""What a replace of the whole table does on every target, besides being repeatable."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.spark.test_every_target import BAD_ROWS, Lab
from tests.spark.test_every_target import lab as lab  # noqa: PLC0414 — a fixture
from tests.spark.test_every_target import world as world  # noqa: PLC0414 — a fixture

from setpoint.errors import GateFailed, ResultMisshapen, TransformFailed

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.spark
CHANGED = ('return frame.withColumn("tax", F.lit(1))', 'return frame.drop("amount")')


def test_a_table_that_is_not_replaced_stays_as_it_was(lab: Lab, tmp_path: Path) -> None:
    """A2, C4, scenarios 25, 26 and 31: a failure, bad keys, other columns; then the retry."""
    lab.replace()
    lab.ok()
    before = lab.sums()
    mark = tmp_path / "failed-once"
    shaky = f"""
    def shaky(number):
        import os
        if number == 40 and not os.path.exists({str(mark)!r}):
            open({str(mark)!r}, "w").close()
            raise ValueError("died at half of the rows")
        return number + 1000
    return frame.withColumn("order_id", F.udf(shaky, "bigint")("order_id"))
"""
    for body, expected in (
        (shaky, TransformFailed),
        (f"return frame.withColumn({BAD_ROWS['not_null']})", GateFailed),
        (f"return frame.withColumn({BAD_ROWS['unique']})", GateFailed),
        *((body, ResultMisshapen) for body in CHANGED),
    ):
        lab.replace(body)
        assert isinstance(lab.bench.error(), expected), body
        assert lab.sums() == before
    lab.replace(shaky)
    result = lab.ok()
    assert (result.rows, result.replaced) == (72, 72)
    assert lab.frame().where("order_id >= 1000").count() == 72
