"""What a table's own unique keys prove about a result."""

from __future__ import annotations

import pytest

from setpoint.engine.spark.target import TableState


@pytest.mark.parametrize(
    ("kept", "asked", "proven"),
    [
        ([("id",)], ["id"], True),
        ([("ID",)], ["id"], True),
        ([("id",)], ["day", "id"], True),  # one row an id is one row an id and day
        ([("day", "id")], ["id"], False),
        ([("day", "id")], ["id", "day"], True),
        ([("other",), ("id",)], ["id"], True),
        ([], ["id"], False),
        ([("id",)], [], False),
    ],
)
def test_a_unique_index_on_the_key_or_a_part_of_it_keeps_the_key_unique(
    kept: list[tuple[str, ...]], asked: list[str], proven: bool
) -> None:
    """In any order and case of the columns; a wider index proves nothing."""
    state = TableState(columns={}, snapshot=None, unique_keys=tuple(kept))
    assert state.keeps_unique(asked) is proven
