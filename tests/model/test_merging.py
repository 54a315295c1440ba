"""A merge as SQL text."""

from __future__ import annotations

from setpoint.model.merging import (
    Comparable,
    live_sql,
    marked_columns,
    matching_sql,
    newer_sql,
    ranked_columns,
    reduced_filter,
)
from setpoint.model.write import merge

CONTENT = [Comparable(name="id"), Comparable(name="tags", pattern="array_sort({})")]


def test_a_tombstone_keeps_the_key_and_the_version_alone() -> None:
    """What was deleted is gone from the table, whatever the case its columns are written in."""
    columns = marked_columns(merge("ID", version="v", delete_when="op = 'D'"), ["id", "v", "a b"])
    assert columns[:2] == ["id", "v"]
    assert columns[2] == "CASE WHEN coalesce((op = 'D'), false) THEN NULL ELSE `a b` END AS `a b`"
    assert columns[3] == "coalesce((op = 'D'), false) AS _setpoint_deleted"
    assert marked_columns(merge("id", version="v"), ["id", "a b"]) == ["id", "`a b`"]


def test_a_batch_is_ranked_and_a_tie_stops_it() -> None:
    """The newest first; a row like the newest, but not of its content, stops the write."""
    given = merge(["id", "from day"], version="v")
    over = "OVER (PARTITION BY id, `from day` ORDER BY v DESC)"
    assert f"row_number() {over} AS __setpoint_first" in ranked_columns(given, CONTENT)
    kept = reduced_filter(given, CONTENT, "STOP")
    assert "v <=> __setpoint_newest AND NOT (struct(id, array_sort(tags)) <=>" in kept
    assert "THEN STOP" in kept
    assert "__setpoint_newest" not in reduced_filter(merge("id"), CONTENT, "STOP")


def test_only_a_newer_row_replaces_one() -> None:
    """An equal version with another content stops; without versions a change replaces."""
    condition = newer_sql(merge("id", version="v"), CONTENT, "STOP", table="lake.a.t")
    assert "lake.a.t.v IS NULL OR s.v > lake.a.t.v THEN true" in condition
    assert "array_sort(s.tags) <=> array_sort(lake.a.t.tags)) THEN STOP" in condition
    assert newer_sql(merge("id"), CONTENT[:1], "STOP") == "NOT (s.id <=> t.id)"
    assert matching_sql(merge(["id", "a b"])) == "t.id = s.id AND t.`a b` = s.`a b`"


def test_tombstones_can_be_left_out() -> None:
    """A null mark is a row from before there were tombstones: it is live."""
    assert live_sql("lake.a.t").endswith("FROM lake.a.t WHERE _setpoint_deleted IS NOT TRUE)")
