"""What every target does, whatever it is made of: one suite, run against each.

It is long because it is one thing: a behaviour that stands here holds on all of them.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from datetime import date, timedelta
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.spark.conftest import TOML, Bench
from tests.spark.targets import KINDS, TargetKind, target_of

from setpoint.engine.protocol import Token
from setpoint.engine.spark.checksum import checksum
from setpoint.engine.spark.target import Writing
from setpoint.engine.spark.translation import SPARK_ERRORS
from setpoint.errors import (
    GateFailed,
    ProjectError,
    ResultMisshapen,
    SetpointError,
    TransformFailed,
)
from setpoint.ledger.memory import MemoryLedger
from setpoint.model.plan import Dates, make_plan
from setpoint.model.target import GUARANTEES, PATTERNS
from setpoint.project.project import load_project

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from setpoint.model.plan import Step
    from setpoint.running.result import RunResult

pytestmark = pytest.mark.spark
DAYS = ("2026-04-24", "2026-04-25", "2026-04-26")
A_DAY = 24
ROWS = f"""
SELECT id AS order_id, CAST(id AS DECIMAL(10,2)) AS amount,
       timestamp_seconds(unix_seconds(TIMESTAMP '{DAYS[0]} 00:00:00Z') + id * 3600) AS ordered_at
FROM range({len(DAYS) * A_DAY})
"""
TASK = """
@task(target={target!r}, {options},
      sources={{"raw": Source("lake.raw.orders", {reading})}})
def {name}(raw, spark):
    frame = raw.withColumn("order_date", F.to_date("ordered_at"))
    {body}
"""
NUMBERS = count(1)
NEWER = 1_000_000
"""A fence above all that the ledger gave out."""


class Lab:
    """A table of one kind, not made yet, and a task that sets it."""

    def __init__(self, bench: Bench, kind: TargetKind) -> None:
        self.bench = bench
        self.kind = kind
        self.name = f"orders_{next(NUMBERS)}"
        self.table = f"{kind.catalog}.shop.{self.name}"

    def overwrite(self, body: str = "return frame") -> None:
        """Write the task that overwrites a day at a time."""
        self._task(
            body,
            f'grain="day", write={self.kind.by_window}(by="order_date"), unique_key="order_id"',
            'event_time="ordered_at"',
        )

    def replace(self, body: str = "return frame") -> None:
        """Write the task that replaces the whole table."""
        self._task(body, 'write=replace(), unique_key="order_id"', "static=True")

    def _task(self, body: str, options: str, reading: str) -> None:
        self.bench.python(
            TASK.format(
                target=self.table, options=options, reading=reading, name=self.name, body=body
            )
        )

    def ok(self, ds: str | None = None) -> RunResult:
        """Run, and insist that it succeeded."""
        return self.bench.ok(ds)[-1]

    def all_days(self) -> None:
        """Run every day, in order."""
        self.bench.ok(start=DAYS[0], end="2026-04-27")

    def frame(self) -> DataFrame:
        """The table as a reader sees it."""
        return self.bench.spark.sql(f"SELECT * FROM {self.target.reference()}")

    @property
    def target(self) -> Any:
        """The target itself."""
        return target_of(self.bench, self.table)

    def sums(self) -> dict[str, str]:
        """The content of each day, whatever the order of its rows."""
        rows: dict[str, list[str]] = {day: [] for day in DAYS}
        for row in self.frame().collect():
            rows[str(row["order_date"])].append(repr(sorted(row.asDict().items())))
        return {day: repr(sorted(found)) for day, found in rows.items()}

    def days(self) -> dict[str, int]:
        """The number of rows of each day that has any."""
        found = self.frame().groupBy("order_date").count().collect()
        return {str(row[0]): row[1] for row in found}

    def step(self, ds: str) -> Step:
        """The plan's step for a day."""
        return make_plan(load_project(self.bench.root).graph, select=(), dates=Dates(ds=ds)).steps[
            0
        ]


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: kind.name)
def world(
    request: pytest.FixtureRequest,
    jvm: SparkSession,  # noqa: ARG001 — the JVM must be up
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Bench, TargetKind]:
    """A project with three days of raw orders and one kind of target, for a whole module."""
    kind: TargetKind = request.param
    more = request.getfixturevalue(kind.fixture) if kind.fixture else ""
    root: Path = tmp_path_factory.mktemp(kind.name)
    bench = Bench(root, f"{TOML}[catalogs.lake]\n{kind.toml}{more}")
    bench.table("lake.raw.orders", ROWS)
    return bench, kind


@pytest.fixture
def lab(world: tuple[Bench, TargetKind]) -> Lab:
    """A fresh table."""
    return Lab(*world)


def test_ten_runs_leave_what_one_left(lab: Lab) -> None:
    """A1: the same count and content checksum, however often a window is run."""
    lab.overwrite()
    first = lab.ok(DAYS[1])
    once = lab.sums()
    assert (first.rows, first.replaced) == (A_DAY, 0)
    assert lab.ok(DAYS[1]).replaced == A_DAY
    assert lab.sums() == once
    results = [lab.ok(DAYS[1]) for _ in range(8)]
    assert {result.rows for result in results} == {A_DAY}
    assert lab.sums() == once
    assert lab.days() == {DAYS[1]: A_DAY}


def test_replace_sets_the_whole_table_however_often(lab: Lab) -> None:
    """B4: twice the same, then less, then nothing."""
    lab.replace()
    assert [lab.ok().rows for _ in range(2)] == [72, 72]
    once = lab.sums()
    lab.replace('return frame.where("order_id < 10")')
    fewer = lab.ok()
    assert (fewer.rows, fewer.replaced) == (10, 72)
    lab.replace()
    lab.ok()
    assert lab.sums() == once
    lab.replace('return frame.where("order_id < 0")')
    emptied = lab.ok()
    assert (emptied.rows, emptied.replaced) == (0, 72)
    assert lab.days() == {}


def test_a_run_that_failed_in_the_middle_leaves_no_trace(lab: Lab, tmp_path: Path) -> None:
    """A2: half of the rows were computed when it failed; old rows stay, the retry is right."""
    lab.overwrite()
    lab.all_days()
    before = lab.sums()
    mark = tmp_path / "failed-once"
    lab.overwrite(f"""
    def shaky(number):
        import os
        if number % {A_DAY} == {A_DAY // 2} and not os.path.exists({str(mark)!r}):
            open({str(mark)!r}, "w").close()
            raise ValueError("died at half of the rows")
        return number + 1000
    return frame.withColumn("order_id", F.udf(shaky, "bigint")("order_id"))
""")
    error = lab.bench.error(DAYS[1])
    assert isinstance(error, TransformFailed)
    assert lab.sums() == before
    result = lab.ok(DAYS[1])
    assert (result.rows, result.replaced) == (A_DAY, A_DAY)
    assert lab.frame().where("order_id >= 1000").count() == A_DAY
    after = lab.sums()
    lab.ok(DAYS[1])
    assert lab.sums() == after
    assert {day for day in DAYS if after[day] != before[day]} == {DAYS[1]}


def test_neighbours_stay_when_a_day_is_set_again(lab: Lab) -> None:
    """A3, A5: the day changes, the others are equal by checksum."""
    lab.overwrite()
    lab.all_days()
    before = lab.sums()
    lab.overwrite(
        'return frame.where("order_id % 2 = 0").withColumn("amount", F.col("amount") + 1)'
        '.withColumn("amount", F.col("amount").cast("decimal(10,2)"))'
    )
    result = lab.ok(DAYS[1])
    assert (result.rows, result.replaced) == (A_DAY // 2, A_DAY)
    after = lab.sums()
    assert [day for day in DAYS if after[day] != before[day]] == [DAYS[1]]


def test_scenario_24_a_window_that_became_empty_is_emptied(lab: Lab) -> None:
    """B1: no stale rows stay behind; an empty result over an empty window is a success."""
    lab.overwrite()
    lab.all_days()
    lab.overwrite('return frame.where("order_id < 0")')
    result = lab.ok(DAYS[1])
    assert (result.rows, result.replaced) == (0, A_DAY)
    assert lab.days() == {DAYS[0]: A_DAY, DAYS[2]: A_DAY}
    again = lab.ok(DAYS[1])
    assert (again.state, again.rows, again.replaced) == ("succeeded", 0, 0)


BAD_ROWS = {
    "not_null": '"order_id", F.when(F.col("order_id") != 30, F.col("order_id"))',
    "unique": '"order_id", F.when(F.col("order_id") == 30, 31).otherwise(F.col("order_id"))',
    "scope": '"order_date", F.expr("date_add(order_date, IF(order_id = 30, 1, 0))")',
}


def test_scenario_25_26_28_a_gate_fires_before_any_reader_sees(lab: Lab) -> None:
    """C4: null keys, repeated keys and rows of another window are refused with samples."""
    lab.overwrite()
    lab.ok(DAYS[1])
    before = lab.sums()
    for gate, change in BAD_ROWS.items():
        lab.overwrite(f"return frame.withColumn({change})")
        error = lab.bench.error(DAYS[1])
        assert isinstance(error, GateFailed), gate
        assert error.gate == gate
        assert error.samples
        assert lab.sums() == before


def test_scenario_31_a_changed_schema_is_refused_and_a_narrower_type_is_not(lab: Lab) -> None:
    """A column added, gone or of another type: told before the write; old rows intact."""
    lab.overwrite()
    lab.ok(DAYS[1])
    before = lab.sums()
    for body in (
        'return frame.withColumn("tax", F.lit(1))',
        'return frame.drop("amount")',
        'return frame.withColumn("amount", F.lit("much"))',
    ):
        lab.overwrite(body)
        error = lab.bench.error(DAYS[1])
        assert isinstance(error, ResultMisshapen), body
        assert error.next_step
        assert lab.sums() == before
    lab.overwrite(
        'return frame.select("order_date", F.col("order_id").cast("int"), "ordered_at", "amount")'
    )
    assert lab.ok(DAYS[1]).rows == A_DAY
    assert lab.sums() == before


@settings(
    max_examples=2, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(order=st.lists(st.sampled_from(DAYS), min_size=2, max_size=4))
def test_scenario_35_windows_in_any_order_and_number_give_one_result(
    lab: Lab, order: list[str]
) -> None:
    """A1, A5: any order, any repetition, the rows that one clean pass gives."""
    mixed = Lab(lab.bench, lab.kind)
    mixed.overwrite()
    for day in order:
        mixed.ok(day)
    found = mixed.frame()
    raw = lab.bench.spark.sql(f"SELECT *, to_date(ordered_at) AS order_date FROM ({ROWS})")
    ran = ", ".join(f"DATE '{day}'" for day in set(order))
    assert checksum(found) == checksum(raw.where(f"order_date IN ({ran})"))


def test_scenario_4_a_commit_that_the_ledger_missed_is_adopted(lab: Lab) -> None:
    """A2: killed between commit and ledger, the next attempt writes nothing again."""
    lab.overwrite()
    step = lab.step(DAYS[1])
    assert step.window is not None
    started = lab.bench.ledger.begin(
        step.task.name,
        step.window.start,
        step.window.end,
        target=str(step.task.target),
        fingerprint=step.task.fingerprint,
        pid=1,
        host="gone",
    )
    token = Token(run_id=started.run_id, fence=started.fence)
    committed = lab.bench.engine.carry_out(step.task, step.window, token)
    result = lab.ok(DAYS[1])
    assert result.adopted
    assert (result.run_id, result.rows, result.snapshot) == (
        started.run_id,
        A_DAY,
        committed.snapshot,
    )
    assert lab.days() == {DAYS[1]: A_DAY}
    assert not lab.ok(DAYS[1]).adopted


def _writing(lab: Lab, ds: str, token: Token, where: str = "true") -> Writing:
    """A write that is ready, as a process holds it that is then paused."""
    step = lab.step(ds)
    frame = lab.frame().where(f"order_date = DATE '{ds}' AND {where}")
    rows = lab.bench.spark.createDataFrame(frame.collect(), frame.schema)
    after = date.fromisoformat(ds) + timedelta(days=1)
    return Writing(
        task=step.task,
        frame=rows,
        scope=f"order_date >= DATE '{ds}' AND order_date < DATE '{after}'",
        token=token,
        state=lab.target.state(),
        window=step.window,
    )


def test_scenario_19_a_stale_base_is_refused_for_the_same_window_only(lab: Lab) -> None:
    """Somebody wrote the same day after the run read it: a conflict; another day is none."""
    lab.overwrite()
    lab.all_days()
    same = _writing(lab, DAYS[1], Token(run_id="late", fence=NEWER), "order_id < 30")
    other = _writing(lab, DAYS[2], Token(run_id="other", fence=NEWER), "order_id < 50")
    lab.overwrite('return frame.withColumn("order_id", F.col("order_id") + 1000)')
    lab.ok(DAYS[1])
    with pytest.raises(Exception, match=r"(?i)conflict|same scope"):
        lab.target.write(same)
    lab.target.write(other)
    assert lab.days() == {DAYS[0]: A_DAY, DAYS[1]: A_DAY, DAYS[2]: 2}


def test_scenario_14_an_older_attempt_that_wakes_late_is_fenced_off(lab: Lab) -> None:
    """The attempt that took over has written, rows or none; the old one must not."""
    lab.overwrite()
    lab.all_days()
    where = "order_id < 0" if lab.kind.fences_empty else "true"
    late = _writing(lab, DAYS[1], Token(run_id="run", fence=NEWER), where)
    new = _writing(lab, DAYS[1], Token(run_id="run", fence=NEWER + 1), where)
    lab.target.write(new)
    before = lab.sums()
    with pytest.raises(Exception, match=r"(?i)conflict|same scope|newer attempt"):
        lab.target.write(late)
    assert lab.sums() == before
    assert lab.target.commit("run") is not None


def test_scenario_21_a_reader_during_a_rewrite_sees_old_or_new(lab: Lab) -> None:
    """Never half, where the target promises it; where it does not, `explain` says so."""
    if not GUARANTEES[lab.kind.name].atomic:
        assert "may see" in GUARANTEES[lab.kind.name].readers
        return
    lab.overwrite()
    lab.all_days()
    seen: set[tuple[int, int]] = set()
    done = threading.Event()
    first = threading.Event()

    def poll() -> None:
        while not done.is_set():
            ((rows, shifted),) = lab.bench.rows(
                "SELECT count(*), count_if(order_id >= 1000) "
                f"FROM {lab.target.reference()} WHERE order_date = DATE '{DAYS[1]}'"
            )
            seen.add((rows, shifted))
            first.set()

    reader = threading.Thread(target=poll)
    reader.start()
    assert first.wait(60)
    for shift in (1000, 0, 1000, 0):
        lab.overwrite(f'return frame.withColumn("order_id", F.col("order_id") + {shift})')
        lab.ok(DAYS[1])
    done.set()
    reader.join()
    assert seen <= {(A_DAY, 0), (A_DAY, A_DAY)}


@pytest.mark.parametrize("by", [None, "bucket"])
def test_scenario_32_an_existing_table_laid_out_otherwise(lab: Lab, by: str | None) -> None:
    """Unpartitioned or partitioned by something else: set right, or refused and left alone."""
    body = 'return frame.withColumn("bucket", F.lit("a"))'
    frame = lab.bench.spark.sql(f"SELECT *, to_date(ordered_at) AS order_date FROM ({ROWS})")
    frame = frame.selectExpr("*", "'a' AS bucket").coalesce(1)
    lab.kind.make(lab.bench, lab.table, frame, by)
    before = lab.sums()
    lab.overwrite(body)
    if lab.kind.sets_mixed_files:
        result = lab.ok(DAYS[1])
        assert (result.rows, result.replaced) == (A_DAY, A_DAY)
    else:
        error = lab.bench.error(DAYS[1])
        assert isinstance(error, ResultMisshapen)
        assert "other windows" in error.message
    assert lab.sums() == before


def test_scenario_32_an_existing_table_laid_out_by_day_is_taken_over(lab: Lab) -> None:
    """A table that other tools made, partitioned as the task needs it, is set as it is."""
    frame = lab.bench.spark.sql(f"SELECT *, to_date(ordered_at) AS order_date FROM ({ROWS})")
    lab.kind.make(lab.bench, lab.table, frame.repartition(1), "order_date")
    before = lab.sums()
    lab.overwrite()
    result = lab.ok(DAYS[1])
    assert (result.rows, result.replaced) == (A_DAY, A_DAY)
    assert lab.sums() == before


def test_scenario_34_odd_names_of_columns_are_quoted(lab: Lab) -> None:
    """Spaces, quotes, semicolons and unicode in columns do what they say."""
    lab.bench.python(f"""
        @task(target={lab.table!r}, grain="day", write={lab.kind.by_window}(by="the day; DROP"),
              unique_key=["o'r \\"d;é--r"],
              sources={{"raw": Source("lake.raw.orders", event_time="ordered_at")}})
        def odd(raw):
            return raw.select(F.col("order_id").alias("o'r \\"d;é--r"),
                              F.to_date("ordered_at").alias("the day; DROP"))
    """)
    assert lab.ok(DAYS[1]).rows == A_DAY
    assert lab.ok(DAYS[1]).replaced == A_DAY
    lab.ok(DAYS[2])
    assert lab.frame().count() == 2 * A_DAY


def test_scenario_34_an_odd_name_of_a_table_is_quoted_or_refused(lab: Lab) -> None:
    """What cannot be a folder is refused at load, before any code of the task runs."""
    odd = "o'r \"d;é--r"
    lab.table = f"{lab.kind.catalog}.shop.`{odd}`"
    lab.overwrite()
    if lab.kind.odd_table_names:
        assert lab.ok(DAYS[1]).rows == A_DAY
        return
    with pytest.raises(ProjectError) as caught:
        lab.ok(DAYS[1])
    assert "cannot be" in caught.value.faults[0].message


def test_a_pattern_that_the_target_lacks_is_refused_at_load(lab: Lab) -> None:
    """B5: with those that it has."""
    if "merge" in PATTERNS[lab.kind.name]:
        return
    lab._task("return frame", 'write=merge(on="order_id", version="ordered_at")', "static=True")
    with pytest.raises(SetpointError) as caught:
        lab.ok()
    assert isinstance(caught.value, ProjectError)
    assert "cannot do merge" in caught.value.faults[0].message
    assert "replace" in (caught.value.faults[0].fix or "")


def test_a_target_can_be_a_source(lab: Lab) -> None:
    """B6: the next task reads what this one wrote, bounded to its window."""
    lab.overwrite()
    lab.all_days()
    lab.bench.sql(
        f"""
        /*
        target: lake.shop.daily_{lab.name}
        grain: day
        write: {{overwrite: {{by: order_date}}}}
        sources:
          orders: {{table: {lab.table}, event_time: order_date}}
        */
        SELECT order_date, count(*) AS orders FROM orders GROUP BY order_date
        """,
        "daily",
    )
    try:
        assert lab.bench.ok(DAYS[1])[-1].rows == 1
        assert lab.bench.rows(f"SELECT orders FROM lake.shop.daily_{lab.name}") == [(A_DAY,)]
    finally:
        (lab.bench.root / "pipelines" / "daily.sql").unlink()


def test_a_ledger_that_was_deleted_goes_on_above_the_fences_of_the_table(lab: Lab) -> None:
    """The table remembers what the ledger forgot; the first run under a new one is right."""
    lab.overwrite()
    assert lab.bench.engine.highest_fence(lab.step(DAYS[1]).task) == 0
    lab.ok(DAYS[1])
    lab.ok(DAYS[1])
    before = lab.target.highest_fence()
    assert before == lab.bench.ledger.runs()[0].fence
    lab.bench.ledger = MemoryLedger()
    lab.ok(DAYS[1])
    assert lab.target.highest_fence() > before
    assert lab.days()[DAYS[1]] == A_DAY


def test_a_dead_runs_commit_that_a_stranger_wrote_over_is_not_adopted(lab: Lab) -> None:
    """What it committed no longer stands; the window is set again."""
    if not lab.kind.tells_strangers:
        return
    lab.overwrite()
    lab.ok(DAYS[1])
    step = lab.step(DAYS[1])
    assert step.window is not None
    for stranger, adopted in ((False, True), (True, False)):
        dead = lab.bench.ledger.begin(
            step.task.name,
            step.window.start,
            step.window.end,
            target=lab.table,
            fingerprint=step.task.fingerprint,
            pid=1,
            host="elsewhere",
        )
        lab.bench.engine.carry_out(
            step.task, step.window, Token(run_id=dead.run_id, fence=dead.fence)
        )
        if stranger:
            reference = lab.target.reference()
            lab.bench.spark.sql(f"INSERT INTO {reference} SELECT * FROM {reference} LIMIT 1")
        assert lab.ok(DAYS[1]).adopted is adopted
        assert lab.days() == {DAYS[1]: A_DAY}


@pytest.mark.parametrize("chore", ["compaction", "expiry"])
def test_scenario_20_housekeeping_meanwhile_leaves_the_window_right(lab: Lab, chore: str) -> None:
    """A writer that began before it commits the same rows, or is refused and run again."""
    if not lab.kind.tells_strangers:
        return  # it has neither files to compact nor history to expire
    lab.overwrite()
    lab.all_days()
    lab.all_days()
    before = lab.sums()
    paused = _writing(lab, DAYS[1], Token(run_id="paused", fence=NEWER))
    spark, name = lab.bench.spark, f"shop.{lab.name}"
    if lab.kind.name == "delta":
        spark.sql(f"{'OPTIMIZE' if chore == 'compaction' else 'VACUUM'} {lab.target.reference()}")
    elif chore == "compaction":
        options = "map('rewrite-all', 'true')"
        spark.sql(f"CALL lake.system.rewrite_data_files(table => '{name}', options => {options})")
    else:
        spark.sql(
            f"CALL lake.system.expire_snapshots(table => '{name}', "
            "older_than => TIMESTAMP '2100-01-01 00:00:00', retain_last => 1)"
        )
    assert lab.sums() == before
    with suppress(*SPARK_ERRORS):
        lab.target.write(paused)
    assert lab.sums() == before
    lab.ok(DAYS[1])
    assert lab.sums() == before
