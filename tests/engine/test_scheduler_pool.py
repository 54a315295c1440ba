"""Choosing a scheduler pool where Spark shows no context."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from pyspark.errors import PySparkAttributeError

from setpoint.engine.spark.ranges import SparkRanges


class _SessionOnly:
    @property
    def sparkContext(self) -> Any:  # noqa: N802 — Spark's own name
        raise PySparkAttributeError(
            errorClass="JVM_ATTRIBUTE_NOT_SUPPORTED", messageParameters={"attr_name": "context"}
        )


def test_a_spark_without_a_context_is_no_reason_to_fail() -> None:
    """Managed Spark: the pool is left out, and that is said."""
    said: list[str] = []
    engine = SimpleNamespace(
        _settings=SimpleNamespace(spark=SimpleNamespace(remote=None)),
        spark=_SessionOnly(),
        _say=said.append,
    )
    SparkRanges.use_scheduler(cast("SparkRanges", engine), "night")
    assert said == ["this Spark lets nobody choose a scheduler pool: night is left out"]
