"""MERGE: one row a key, the newest version, whatever order windows arrive in."""

from __future__ import annotations

import threading
from datetime import date, datetime, timezone
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from setpoint.engine.spark.engine import SparkEngine
from setpoint.errors import CommitConflict, GateFailed, ProjectError, ResultMisshapen
from setpoint.model.explanation import explain
from setpoint.model.scope import Kinds
from setpoint.project.project import load_project
from setpoint.project.settings import read_settings

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.spark.conftest import Bench

pytestmark = pytest.mark.spark
TARGET = "lake.shop.customers"
FEED = "lake.raw.feed"
SCHEMA = "id BIGINT, name STRING, seq BIGINT, op STRING, at TIMESTAMP"
TASK = """
@task(target="lake.shop.customers", grain="day",
      write=merge(on="id", version="seq", delete_when="op = 'D'"){more},
      sources={{"feed": Source("lake.raw.feed", event_time="at")}})
def customers(feed):
    return feed.drop("at")
"""
LIVE = f"SELECT id, name, seq FROM {TARGET} WHERE _setpoint_deleted IS NOT TRUE ORDER BY id"

Change = tuple[int | None, str | None, int | None, str, int]
"""id, name, seq, op, day of April 2026."""


def _feed(bench: Bench, changes: Iterable[Change]) -> None:
    rows = [
        (key, name, seq, op, datetime(2026, 4, day, 12, tzinfo=timezone.utc))
        for key, name, seq, op, day in changes
    ]
    bench.spark.sql("CREATE NAMESPACE IF NOT EXISTS lake.raw")
    bench.spark.createDataFrame(rows, SCHEMA).writeTo(FEED).using("iceberg").createOrReplace()


def _tell(bench: Bench, changes: Iterable[Change], more: str = "") -> Bench:
    _feed(bench, changes)
    bench.python(TASK.format(more=more))
    return bench


def _merge(bench: Bench, day: int) -> None:
    bench.ok(f"2026-04-{day:02}")


def _refused(bench: Bench, day: int) -> GateFailed:
    error = bench.error(f"2026-04-{day:02}")
    assert isinstance(error, GateFailed), error
    return error


def test_a_batch_is_reduced_to_the_newest_row_a_key(bench: Bench) -> None:
    """B2: the row with the newest version of each key is kept, and counted."""
    _tell(bench, [(1, "Ann", 1, "I", 1), (1, "Anna", 3, "U", 1), (2, "Bo", 2, "I", 1)])
    (result,) = bench.ok("2026-04-01")
    assert bench.rows(LIVE) == [(1, "Anna", 3), (2, "Bo", 2)]
    assert (result.rows, result.replaced) == (2, 0)
    (again,) = bench.ok("2026-04-01")
    assert (again.rows, again.replaced) == (0, 0)
    assert bench.rows(LIVE) == [(1, "Anna", 3), (2, "Bo", 2)]


def test_scenario_27_repeated_rows_of_one_content_are_one(bench: Bench) -> None:
    """An at-least-once feed repeats itself; that is no tie."""
    _tell(bench, [(1, "Ann", 1, "I", 1)] * 3 + [(1, "Ann", 1, "I", 2)])
    _merge(bench, 1)
    _merge(bench, 2)
    assert bench.rows(LIVE) == [(1, "Ann", 1)]


def test_scenario_27_two_contents_of_one_version_fail_with_both_rows(bench: Bench) -> None:
    """Which one is newer cannot be told, so neither is written."""
    _tell(bench, [(1, "Ann", 1, "I", 1), (2, "Bo", 7, "U", 1), (2, "Bob", 7, "U", 1)])
    error = _refused(bench, 1)
    assert error.gate == "tie"
    assert sorted(error.samples) == [
        "id=2, name=Bo, seq=7, op=U, _setpoint_deleted=False",
        "id=2, name=Bob, seq=7, op=U, _setpoint_deleted=False",
    ]
    assert bench.count(TARGET) == 0


def test_scenario_27_a_tie_hidden_among_repetitions_is_found(bench: Bench) -> None:
    """Two rows alike and one that differs, of one version, in whatever order they come."""
    _tell(bench, [(1, "a", 5, "U", 1), (1, "a", 5, "U", 1), (1, "b", 5, "U", 1)])
    assert _refused(bench, 1).gate == "tie"


def test_an_old_tie_below_a_newer_version_does_not_matter(bench: Bench) -> None:
    """Only the newest version of a key is written."""
    _tell(bench, [(1, "a", 5, "U", 1), (1, "b", 5, "U", 1), (1, "c", 6, "U", 1)])
    _merge(bench, 1)
    assert bench.rows(LIVE) == [(1, "c", 6)]


def test_scenario_27_a_tie_with_the_table_fails_with_the_row(bench: Bench) -> None:
    """Two windows that disagree on one version would make the result depend on their order."""
    _tell(bench, [(1, "Ann", 1, "I", 1), (1, "Anna", 1, "U", 2), (2, "Bo", 1, "I", 2)])
    _merge(bench, 1)
    error = _refused(bench, 2)
    assert error.gate == "tie"
    assert error.samples == ("id=1, name=Anna, seq=1, op=U, _setpoint_deleted=False",)
    assert bench.rows(LIVE) == [(1, "Ann", 1)]


def test_an_older_window_after_a_newer_one_changes_nothing(bench: Bench) -> None:
    """A3: the version decides, not the order of arrival."""
    _tell(bench, [(1, "old", 1, "I", 1), (1, "new", 2, "U", 2)])
    _merge(bench, 2)
    _merge(bench, 1)
    assert bench.rows(LIVE) == [(1, "new", 2)]


def test_a_delete_is_not_undone_by_an_older_window(bench: Bench) -> None:
    """The tombstone remembers the version, and nothing else of the row."""
    _tell(bench, [(1, "Ann", 1, "I", 1), (1, "Ann", 2, "D", 2)])
    _merge(bench, 2)
    _merge(bench, 1)
    assert bench.rows(LIVE) == []
    assert bench.rows(f"SELECT * FROM {TARGET}") == [(1, None, 2, None, True)]


def test_a_deleted_row_that_comes_back_is_there_again(bench: Bench) -> None:
    """C3: a soft delete with a newer insert after it, in every order of the windows."""
    changes = [(1, "Ann", 1, "I", 1), (1, "Ann", 2, "D", 2), (1, "Ann again", 3, "I", 3)]
    _tell(bench, changes)
    for order in ([1, 2, 3], [3, 2, 1], [2, 3, 1, 2]):
        bench.spark.sql(f"DROP TABLE IF EXISTS {TARGET}")
        for day in order:
            _merge(bench, day)
        assert bench.rows(LIVE) == [(1, "Ann again", 3)]


def test_images_of_a_change_feed_collapse_to_the_last_one_a_key(bench: Bench) -> None:
    """C3: before and after images; a changed key leaves a tombstone under the old one."""
    bench.spark.sql("CREATE NAMESPACE IF NOT EXISTS lake.raw")
    image = "STRUCT<id: BIGINT, name: STRING>"
    rows: list[tuple[Any, ...]] = [
        (1, "c", None, (1, "Ann")),
        (2, "u", (1, "Ann"), (1, "Anna")),
        (3, "u", (1, "Anna"), (9, "Anna")),  # the key itself was changed
        (4, "c", None, (2, "Bo")),
        (5, "d", (2, "Bo"), None),
        (6, "d", (3, "Cy"), None),  # deleted before it was ever seen
    ]
    moment = datetime(2026, 4, 1, tzinfo=timezone.utc)
    schema = f"lsn BIGINT, op STRING, before {image}, after {image}, at TIMESTAMP"
    frame = bench.spark.createDataFrame([(*row, moment) for row in rows], schema)
    frame.writeTo(FEED).using("iceberg").createOrReplace()
    bench.python("""
        @task(target="lake.shop.customers", grain="day",
              write=merge(on="id", version="lsn", delete_when="gone"),
              sources={"feed": Source("lake.raw.feed", event_time="at")})
        def customers(feed):
            after = feed.where("after IS NOT NULL").selectExpr("after.*", "lsn", "false AS gone")
            left = feed.where("before IS NOT NULL AND NOT (before.id <=> after.id)")
            return after.unionByName(left.selectExpr("before.*", "lsn", "true AS gone"))
    """)
    _merge(bench, 1)
    _merge(bench, 1)
    query = f"SELECT id, name, lsn, _setpoint_deleted FROM {TARGET} ORDER BY id"
    assert bench.rows(query) == [
        (1, None, 3, True),
        (2, None, 5, True),
        (3, None, 6, True),
        (9, "Anna", 3, False),
    ]


def test_a_recycled_id_is_a_new_entity_under_a_wider_key(bench: Bench) -> None:
    """C3: an id given to somebody else is told apart by when its owner began."""
    bench.table(
        "lake.raw.badges",
        "SELECT * FROM VALUES "
        "(7, DATE '2024-01-01', 'Ann', 1, TIMESTAMP '2026-04-01 12:00:00Z'), "
        "(7, DATE '2026-03-01', 'Bo', 2, TIMESTAMP '2026-04-02 12:00:00Z'), "
        "(7, DATE '2024-01-01', 'Ann', 3, TIMESTAMP '2026-04-03 12:00:00Z') "
        "AS t(id, valid_from, name, seq, at)",
    )
    bench.python("""
        @task(target="lake.shop.badges", grain="day",
              write=merge(on=["id", "valid_from"], version="seq"),
              sources={"raw": Source("lake.raw.badges", event_time="at")})
        def badges(raw):
            return raw.drop("at")
    """)
    for day in (3, 1, 2):
        _merge(bench, day)
    assert bench.rows("SELECT * FROM lake.shop.badges ORDER BY valid_from") == [
        (7, date(2024, 1, 1), "Ann", 3),
        (7, date(2026, 3, 1), "Bo", 2),
    ]


@pytest.mark.parametrize("change", [(None, "Ann", 1, "I", 1), (1, "Ann", None, "I", 1)])
def test_scenario_25_a_null_key_or_version_is_refused(bench: Bench, change: Change) -> None:
    """C3: neither can be matched or compared."""
    _tell(bench, [change, (2, "Bo", 1, "I", 1)])
    error = _refused(bench, 1)
    assert error.gate == "not_null"
    assert "None" in error.samples[0]
    assert bench.count(TARGET) == 0


def test_checks_ask_the_rows_that_are_kept_not_the_deleted_ones(bench: Bench) -> None:
    """The image of a delete is often empty but for its key."""
    _tell(bench, [(1, None, 1, "D", 1), (2, None, 1, "I", 2)], ', checks={"named": "name <> \'\'"}')
    _merge(bench, 1)
    assert _refused(bench, 2).gate == "named"


def test_scenario_26_keys_that_repeat_in_the_table_are_refused(bench: Bench) -> None:
    """C4: a merge rests on one row a key, so a foreign writer's duplicates are found first."""
    _tell(bench, [(1, "Ann", 1, "I", 1), (1, "Anna", 2, "U", 2)])
    _merge(bench, 1)
    bench.spark.sql(f"INSERT INTO {TARGET} VALUES (1, 'twin', 1, 'I', false)")
    error = _refused(bench, 2)
    assert (error.gate, error.samples) == ("unique", ("id=1, rows=2",))
    bench.spark.sql(f"DELETE FROM {TARGET} WHERE name = 'twin'")
    _merge(bench, 2)
    assert bench.rows(LIVE) == [(1, "Anna", 2)]


def test_a_table_that_only_merges_have_written_is_not_searched_again(bench: Bench) -> None:
    """Uniqueness holds by induction; another writer's commit ends it."""
    from setpoint.engine.spark.iceberg import IcebergTarget
    from setpoint.model.table import TableName

    _tell(bench, [(1, "Ann", 1, "I", 1), (1, "Anna", 2, "U", 2)])
    target = IcebergTarget(bench.spark, TableName.parse(TARGET))

    def proven() -> bool:
        state = target.state()
        assert state is not None
        return target._proven_unique(state.snapshot or "", '["id"]')

    for day in (1, 2):
        _merge(bench, day)
        assert proven()
    bench.spark.sql(f"INSERT INTO {TARGET} VALUES (3, 'Cy', 1, 'I', false)")
    assert not proven()


def test_scenario_19_a_write_in_the_middle_of_a_merge_is_a_conflict(bench: Bench) -> None:
    """Two that insert one key at once cannot both succeed."""
    gate = bench.root / "go"
    _tell(bench, [(1, "Ann", 1, "I", 1), (2, "Bo", 2, "I", 2)])
    _merge(bench, 1)
    bench.python(f"""
        @task(target="lake.shop.customers", grain="day", allow={{"python": "waits"}},
              write=merge(on="id", version="seq", delete_when="op = 'D'"),
              sources={{"feed": Source("lake.raw.feed", event_time="at")}})
        def customers(feed):
            def wait(value):
                import time
                from pathlib import Path

                deadline = time.monotonic() + 60
                Path({str(bench.root / "waiting")!r}).touch()
                while not Path({str(gate)!r}).exists() and time.monotonic() < deadline:
                    time.sleep(0.02)
                return value

            return feed.drop("at").withColumn("name", F.udf(wait)("name"))
    """)
    errors: list[Exception] = []
    run = threading.Thread(target=lambda: errors.append(bench.error("2026-04-02")))
    run.start()
    while not (bench.root / "waiting").exists():
        assert run.is_alive(), errors
    other = SparkEngine(read_settings(bench.root), say=print)
    other.spark.sql(f"INSERT INTO {TARGET} VALUES (2, 'somebody else', 1, 'I', false)")
    gate.touch()
    run.join(timeout=60)
    assert isinstance(errors[0], CommitConflict), errors
    assert bench.count(TARGET, "id = 2") == 1


def test_a_table_that_lets_merges_overlap_is_refused(bench: Bench) -> None:
    """With snapshot isolation two merges at once insert one key twice."""
    _tell(bench, [(1, "Ann", 1, "I", 1)])
    _merge(bench, 1)
    bench.spark.sql(
        f"ALTER TABLE {TARGET} SET TBLPROPERTIES ('write.merge.isolation-level' = 'snapshot')"
    )
    error = bench.error("2026-04-01")
    assert isinstance(error, ResultMisshapen)
    assert "serializable" in (error.next_step or "")


def test_the_commit_of_a_merge_carries_the_run(bench: Bench) -> None:
    """A2: after a crash the commit is found by its token; also that of a merge of nothing."""
    _tell(bench, [(1, "Ann", 1, "I", 1)])
    for day in (1, 2):
        (result,) = bench.ok(f"2026-04-{day:02}")
        step = result.step
        found = bench.engine.find_commit(step.task, result.run_id or "")
        assert found is not None
        assert found.snapshot == result.snapshot
        assert found.rows == result.rows == (1 if day == 1 else 0)
    leaked = [name for name, _ in bench.rows("SET") if "snapshot-property" in name]
    assert leaked == []


def test_tombstones_stay_hidden_from_downstream_tasks(bench: Bench) -> None:
    """A source that a merge has left tombstones in is read without them, and without the mark."""
    _tell(bench, [(1, "Ann", 1, "I", 1), (2, "Bo", 2, "I", 1), (1, "Ann", 3, "D", 1)])
    bench.sql(
        """
        /*
        target: lake.shop.names
        sources: {customers: {table: lake.shop.customers, static: true}}
        */
        SELECT * FROM customers
        """,
        "names",
    )
    bench.ok("2026-04-01")
    assert bench.rows("SELECT * FROM lake.shop.names") == [(2, "Bo", 2, "I")]


def test_explain_gives_other_readers_a_view_without_tombstones(bench: Bench) -> None:
    """The statement that is printed works as it is."""
    _tell(bench, [(1, "Ann", 1, "I", 1), (2, "Bo", 2, "I", 1), (1, "Ann", 3, "D", 1)])
    _merge(bench, 1)
    graph = load_project(bench.root).graph
    task = graph.task("customers")
    explained = explain(task, None, graph, known=Kinds())
    lines = dict(explained.lines)
    assert lines["pattern"][0] == "merge on id; the newest seq wins; deletes where op = 'D'"
    assert lines["readers"][-1].startswith("CREATE VIEW lake.shop.customers_live AS SELECT")
    bench.spark.sql(lines["readers"][-1])
    assert bench.rows("SELECT * FROM lake.shop.customers_live") == [(2, "Bo", 2, "I")]


def test_a_merge_without_windows_needs_no_version(bench: Bench) -> None:
    """A full reload: each run brings every key as it is now; keys that are gone stay."""
    bench.table("lake.raw.rates", "SELECT 'EUR' AS code, 1.1 AS rate")
    bench.python("""
        @task(target="lake.shop.rates", write=merge(on="code"),
              sources={"raw": Source("lake.raw.rates", static=True)})
        def rates(raw):
            return raw
    """)
    bench.ok()
    bench.table("lake.raw.rates", "SELECT 'EUR' AS code, 1.2 AS rate UNION ALL SELECT 'GBP', 1.3")
    assert [(r.rows, r.replaced) for r in bench.ok()] == [(2, 1)]
    bench.table("lake.raw.rates", "SELECT 'EUR' AS code, 1.2 AS rate UNION ALL SELECT 'EUR', 1.4")
    error = bench.error()
    assert isinstance(error, GateFailed)
    assert error.gate == "tie"


def test_rows_with_maps_and_structs_are_compared(bench: Bench) -> None:
    """The order of a map's entries is no difference; a struct may be the version."""
    bench.table(
        "lake.raw.profiles",
        "SELECT 1 AS id, map('a', 1, 'b', 2) AS tags, struct(1 AS hour, 5 AS seq) AS v, "
        "TIMESTAMP '2026-04-01 12:00:00Z' AS at UNION ALL "
        "SELECT 1, map('b', 2, 'a', 1), struct(1, 5), TIMESTAMP '2026-04-02 12:00:00Z' UNION ALL "
        "SELECT 1, map('b', 3), struct(1, 6), TIMESTAMP '2026-04-03 12:00:00Z'",
    )
    bench.python("""
        @task(target="lake.shop.profiles", grain="day", write=merge(on="id", version="v"),
              sources={"raw": Source("lake.raw.profiles", event_time="at")})
        def profiles(raw):
            return raw.drop("at")
    """)
    bench.ok(start="2026-04-01", end="2026-04-04")
    assert bench.rows("SELECT id, tags FROM lake.shop.profiles") == [(1, {"b": 3})]


def test_a_merge_by_the_rule_and_in_sql(bench: Bench) -> None:
    """B5: a key and a version make a merge; the header of a SQL task says the same words."""
    _feed(bench, [(1, "Ann", 1, "I", 1), (1, "Anna", 2, "U", 1)])
    bench.sql(
        """
        /*
        target: lake.shop.customers
        grain: day
        unique_key: id
        version: seq
        sources: {feed: {table: lake.raw.feed, event_time: at}}
        */
        SELECT id, name, seq FROM feed
        """,
        "customers",
    )
    _merge(bench, 1)
    assert bench.rows(f"SELECT * FROM {TARGET}") == [(1, "Anna", 2)]


def test_a_merge_that_does_not_suit_is_refused_at_load(bench: Bench) -> None:
    """Without a version windows could not come in any order."""
    bench.python("""
        @task(target="lake.shop.customers", grain="day", write=merge(on="id"),
              sources={"feed": Source("lake.raw.feed", event_time="at")})
        def customers(feed):
            return feed
    """)
    with pytest.raises(ProjectError) as caught:
        load_project(bench.root)
    assert "needs a version" in caught.value.faults[0].message


CHANGES = st.lists(
    st.tuples(st.integers(1, 3), st.sampled_from("IUD"), st.integers(1, 3)), min_size=1, max_size=12
)


@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
@given(changes=CHANGES, data=st.data())
def test_scenario_35_windows_in_any_order_any_number_of_times_give_one_result(
    bench: Bench, changes: list[tuple[int, str, int]], data: st.DataObject
) -> None:
    """The checksum is that of one run over each window in order; and what is live is the truth."""
    feed = [(key, f"n{n}", n, op, day) for n, (key, op, day) in enumerate(changes)]
    _tell(bench, feed)
    days = [1, 2, 3]
    more = data.draw(st.lists(st.sampled_from(days), max_size=3), label="repeated")
    order = data.draw(st.permutations([*days, *more]), label="order")
    sums = set()
    for sequence in (days, order):
        bench.spark.sql(f"DROP TABLE IF EXISTS {TARGET}")
        last = [bench.ok(f"2026-04-{day:02}", checksum=True)[0] for day in sequence][-1]
        sums.add(last.checksum)
    assert len(sums) == 1
    newest = {key: (name, op) for key, name, _, op, _ in feed}
    live = sorted((key, name) for key, (name, op) in newest.items() if op != "D")
    assert [(key, name) for key, name, _ in bench.rows(LIVE)] == live
