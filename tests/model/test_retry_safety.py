"""Automatic retries only for what is known to be idempotent."""

from __future__ import annotations

import pytest

from setpoint.model.hidden_input import Allow
from setpoint.model.retry_safety import unsafe_to_retry


@pytest.mark.parametrize(
    ("functions", "kind", "words"),
    [
        ((), "iceberg", []),
        (("collect_list",), "iceberg", []),
        (("rand",), "iceberg", ["rand"]),
        (("current_timestamp", "uuid"), "postgres", ["current_timestamp", "uuid"]),
        ((), "parquet", ["not one step"]),
    ],
)
def test_what_a_second_attempt_may_not_repeat_is_named(
    functions: tuple[str, ...], kind: str, words: list[str]
) -> None:
    """F2: each reason with its fix."""
    found = unsafe_to_retry(allow=[Allow(name, "meant") for name in functions], kind=kind)
    assert len(found) == len(words)
    assert all(word in unsafe.reason for word, unsafe in zip(words, found, strict=True))
    assert all(unsafe.fix for unsafe in found)
