"""What a merge does on every target that can: one suite, run against each."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.spark.conftest import TOML, Bench
from tests.spark.targets import KINDS, TargetKind, target_of

from setpoint.errors import GateFailed, ResultMisshapen, TransformFailed
from setpoint.model.target import PATTERNS

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from setpoint.running.result import RunResult

pytestmark = pytest.mark.spark
DAYS = ("2026-04-24", "2026-04-25", "2026-04-26")
CUSTOMERS = 12
# Twelve customers, three days: each day changes nine of them, and repeats some of its rows.
FEED = f"""
SELECT id % {CUSTOMERS} AS id, concat('name ', id) AS name, id AS seq,
       timestampadd(HOUR, CAST(id * 2 AS INT), TIMESTAMP '{DAYS[0]} 00:00:00Z') AS at
FROM (SELECT id FROM range(36) UNION ALL SELECT id FROM range(0, 36, 5)) WHERE id % 4 > 0
"""
TASK = """
@task(target={target!r}, grain="day", write=merge(on="id", version="seq"),
      sources={{"feed": Source("lake.raw.feed", event_time="at")}})
def {name}(feed):
    frame = feed.drop("at")
    {body}
"""
Rows = list[tuple[object, ...]]
NUMBERS = count(1)


class Lab:
    """A table of one kind, not made yet, and a task that merges a day of changes into it."""

    def __init__(self, bench: Bench, kind: TargetKind) -> None:
        self.bench = bench
        self.kind = kind
        self.name = f"customers_{next(NUMBERS)}"
        self.table = f"{kind.catalog}.shop.{self.name}"
        self.merge()

    def merge(self, body: str = "return frame") -> None:
        """Write the task."""
        self.bench.python(TASK.format(target=self.table, name=self.name, body=body))

    def ok(self, ds: str) -> RunResult:
        """Run a day, and insist that it succeeded."""
        return self.bench.ok(ds)[-1]

    def rows(self) -> Rows:
        """The table as a reader sees it."""
        reference = target_of(self.bench, self.table).reference()
        return self.bench.rows(f"SELECT id, name, seq FROM {reference} ORDER BY id, seq")

    def expected(self, *days: str) -> Rows:
        """The newest change of each customer in these days."""
        listed = ", ".join(f"DATE '{day}'" for day in days)
        return self.bench.rows(
            f"SELECT id, max_by(name, seq), max(seq) FROM ({FEED}) "
            f"WHERE to_date(at) IN ({listed}) GROUP BY id ORDER BY id"
        )


@pytest.fixture(
    scope="module",
    params=[kind for kind in KINDS if "merge" in PATTERNS[kind.name]],
    ids=lambda kind: kind.name,
)
def world(
    request: pytest.FixtureRequest,
    jvm: SparkSession,  # noqa: ARG001 — the JVM must be up
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Bench, TargetKind]:
    """A project with three days of changes and one kind of target, for a whole module."""
    kind: TargetKind = request.param
    more = request.getfixturevalue(kind.fixture) if kind.fixture else ""
    root: Path = tmp_path_factory.mktemp(f"merge-{kind.name}")
    bench = Bench(root, f"{TOML}[catalogs.lake]\n{kind.toml}{more}")
    bench.table("lake.raw.feed", FEED)
    return bench, kind


@pytest.fixture
def lab(world: tuple[Bench, TargetKind]) -> Lab:
    """A fresh table."""
    return Lab(*world)


def test_ten_merges_leave_what_one_left(lab: Lab) -> None:
    """A1: one row a customer, however often the day is merged."""
    lab.ok(DAYS[1])
    once = lab.rows()
    assert once == lab.expected(DAYS[1])
    lab.ok(DAYS[1])
    assert lab.rows() == once
    for _ in range(8):
        lab.ok(DAYS[1])
    assert lab.rows() == once


def test_a_merge_that_failed_in_the_middle_leaves_no_trace(lab: Lab, tmp_path: Path) -> None:
    """A2: some rows were computed when it failed; old rows stay, the retry is right."""
    lab.ok(DAYS[0])
    before = lab.rows()
    mark = tmp_path / "failed-once"
    lab.merge(f"""
    def shaky(seq):
        import os
        if seq == 18 and not os.path.exists({str(mark)!r}):
            open({str(mark)!r}, "w").close()
            raise ValueError("died in the middle")
        return seq
    return frame.withColumn("seq", F.udf(shaky, "bigint")("seq"))
""")
    assert isinstance(lab.bench.error(DAYS[1]), TransformFailed)
    assert lab.rows() == before
    lab.ok(DAYS[1])
    assert lab.rows() == lab.expected(DAYS[0], DAYS[1])


def test_neighbours_and_an_empty_day(lab: Lab) -> None:
    """A5, scenarios 24 and 28: other days' changes are not taken; a day without any takes none."""
    lab.ok(DAYS[1])
    first = lab.rows()
    assert first == lab.expected(DAYS[1])
    empty = lab.ok("2026-05-01")
    assert (empty.state, empty.rows) == ("succeeded", 0)
    lab.merge('return frame.where("id < 6")')
    lab.ok(DAYS[2])
    after = {row[0]: row for row in lab.rows()}
    newest = {row[0]: row for row in lab.expected(DAYS[1], DAYS[2])}
    old = {row[0]: row for row in first}
    assert all(after[key] == newest[key] for key in after if key < 6)  # type: ignore[operator]
    assert all(after[key] == old[key] for key in old if key >= 6)  # type: ignore[operator]


BAD_ROWS = {
    "null key": ("not_null", '"id", F.when(F.col("seq") != 18, F.col("id"))'),
    "null version": ("not_null", '"seq", F.when(F.col("seq") != 18, F.col("seq"))'),
    "two contents": ("tie", '"seq", F.lit(99)'),
}


def test_scenario_25_27_a_gate_fires_before_any_reader_sees(lab: Lab) -> None:
    """C4: null keys, null versions and one version of two contents are refused with samples."""
    lab.ok(DAYS[1])
    before = lab.rows()
    for name, (gate, change) in BAD_ROWS.items():
        lab.merge(f'return frame.withColumn("id", F.col("id") % 5).withColumn({change})')
        error = lab.bench.error(DAYS[1])
        assert isinstance(error, GateFailed), name
        assert error.gate == gate, name
        assert error.samples, name
        assert lab.rows() == before


def test_scenario_31_a_changed_schema_is_refused(lab: Lab) -> None:
    """A column added, gone or of another type: told before the write; old rows intact."""
    lab.ok(DAYS[1])
    before = lab.rows()
    for body in (
        'return frame.withColumn("tax", F.lit(1))',
        'return frame.drop("name")',
        'return frame.withColumn("seq", F.lit("much"))',
    ):
        lab.merge(body)
        error = lab.bench.error(DAYS[2])
        assert isinstance(error, ResultMisshapen), body
        assert error.next_step
        assert lab.rows() == before


@settings(
    max_examples=2, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(order=st.lists(st.sampled_from(DAYS), min_size=2, max_size=3))
def test_scenario_35_days_in_any_order_and_number_give_one_result(
    lab: Lab, order: list[str]
) -> None:
    """B2: any order, any repetition, the newest change of each customer."""
    mixed = Lab(lab.bench, lab.kind)
    for day in order:
        mixed.ok(day)
    assert mixed.rows() == lab.expected(*set(order))
