"""The incident, told with real data: 430,000 rows without Setpoint, 250,000 with it."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any, Protocol

from setpoint.demo.killing import finish, kill_after_line, kill_when, start
from setpoint.demo.naive import DAY, ROWS, TABLE
from setpoint.errors import EngineFailed
from setpoint.ledger.opening import open_ledger
from setpoint.model.plan import Dates, make_plan
from setpoint.project.project import load_project
from setpoint.running.project_run import spark_engine
from setpoint.running.runner import Runner

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from setpoint.running.result import RunResult

BEFORE, AFTER, END = "2026-04-24", "2026-04-26", "2026-04-27"
DIED_AT = 180_000
RERUNS = 3
TRIES = 3
SOURCE = f"""
CREATE TABLE lake.source.orders USING iceberg PARTITIONED BY (order_date) AS
SELECT id AS order_id,
       pmod(xxhash64(id, 'customer'), 5000) AS customer_id,
       CAST(pmod(xxhash64(id, 'amount'), 50000) / 100 AS DECIMAL(10, 2)) AS amount,
       timestamp_seconds(unix_seconds(CAST(day AS TIMESTAMP))
                         + pmod(xxhash64(id, 'second'), 86400)) AS ordered_at,
       day AS order_date
FROM (SELECT id, date_add(DATE '{BEFORE}', CAST(id DIV {ROWS} AS INT)) AS day
      FROM range({3 * ROWS}))
"""


class Teller(Protocol):
    """Tells the story as it happens."""

    def chapter(self, title: str) -> None:
        """A new part begins."""

    def tell(self, text: str) -> None:
        """Something has happened."""

    def working(self, text: str) -> AbstractContextManager[None]:
        """Something takes a while."""


@dataclass(frozen=True, kw_only=True)
class Moral:
    """What the story shows; every figure was counted in the tables."""

    naive_died: int
    naive_rows: int
    died_rows: int
    rows: int
    revenue_naive: str
    revenue: str
    checksums: tuple[str, ...]
    neighbours_same: bool

    @property
    def holds(self) -> bool:
        """Whether everything came out as it should."""
        return (
            self.naive_died == DIED_AT
            and self.naive_rows == DIED_AT + ROWS
            and self.died_rows == 0
            and self.rows == ROWS
            and len(set(self.checksums)) == 1
            and self.neighbours_same
        )


class Story:
    """Sets the stage in a folder and tells the incident on it."""

    def __init__(self, folder: Path, teller: Teller) -> None:
        self.folder = folder
        self.teller = teller
        _copy_project(folder)
        self.project = load_project(folder)
        self.engine = spark_engine(self.project.settings, say=lambda _text: None)
        self.task = self.project.graph.task("nightly_orders")
        self.killed_log = folder / "killed.log"

    def tell(self) -> Moral:
        """Tell it all; returns what was counted."""
        teller = self.teller
        teller.chapter("The stage")
        with teller.working("starting Spark"):
            self.engine.start()
        with teller.working(f"making {3 * ROWS:,} orders of three days"):
            self._sql("CREATE NAMESPACE IF NOT EXISTS lake.source")
            self._sql("CREATE NAMESPACE IF NOT EXISTS lake.naive")
            self._sql(SOURCE)
            self._sql(f"CREATE TABLE {TABLE} AS SELECT * FROM lake.source.orders WHERE false")
        teller.tell(f"{ROWS:,} orders a day, {BEFORE} to {AFTER}. Spark's log: {self.engine.log}")
        died, doubled = self._without_setpoint()
        return self._with_setpoint(died, doubled)

    def _without_setpoint(self) -> tuple[int, int]:
        teller = self.teller
        teller.chapter("Without Setpoint: a job that appends")
        with teller.working(f"the nightly job copies {DAY}"):
            process = start("setpoint.demo.naive", str(self.folder), log=self.killed_log)
            kill_after_line(process, str(DIED_AT))
        died = self._count(TABLE)
        teller.tell(f"killed (SIGKILL) in the middle: {died:,} rows are there")
        with teller.working("the scheduler retries it"):
            finish(start("setpoint.demo.naive", str(self.folder), log=self.killed_log))
        doubled = self._count(TABLE)
        teller.tell(f"the retry is green, and the table holds {doubled:,} rows: every one valid")
        return died, doubled

    def _with_setpoint(self, died: int, doubled: int) -> Moral:
        teller = self.teller
        teller.chapter("With Setpoint: the same job as a task that owns its day")
        with teller.working("the days before and after are there already"):
            self._run(Dates(ds=BEFORE))
            self._run(Dates(ds=AFTER))
            neighbours = self._neighbours()
        with teller.working(f"the task sets {DAY}"):
            self._kill_in_write()
        gone = self._count(str(self.task.target), f"order_date = DATE '{DAY}'")
        teller.tell(f"killed (SIGKILL) while its files were being written: {gone:,} rows are seen")
        with teller.working("the scheduler retries it"):
            retried = self._run(Dates(ds=DAY), checksum=True)
        teller.tell(
            f"the retry (attempt {retried.attempts} of the same run): {retried.rows:,} rows"
        )
        checksums = [str(retried.checksum)]
        for number in range(1, RERUNS + 1):
            with teller.working(f"and again, {number} of {RERUNS}"):
                checksums.append(str(self._run(Dates(ds=DAY), checksum=True).checksum))
        teller.tell(f"run {RERUNS} times more, content checksum each time: {checksums[-1]}")
        with teller.working("comparing the days before and after"):
            same = self._neighbours() == neighbours
        words = "untouched, by checksum" if same else "CHANGED"
        teller.tell(f"the days before and after: {words}")
        day = f"order_date = DATE '{DAY}'"
        return Moral(
            naive_died=died,
            naive_rows=doubled,
            died_rows=gone,
            rows=self._count(str(self.task.target), day),
            revenue_naive=self._revenue(TABLE, day),
            revenue=self._revenue(str(self.task.target), day),
            checksums=tuple(checksums),
            neighbours_same=same,
        )

    def _kill_in_write(self) -> None:
        warehouse = self.project.settings.catalogs["lake"].warehouse
        if warehouse is None:
            raise EngineFailed("the demo's catalog has no folder")
        data = warehouse / "shop" / "orders" / "data" / f"order_date={DAY}"
        for _ in range(TRIES):
            seen = set(data.glob("*.parquet"))
            process = start(
                "setpoint", "run", "--ds", DAY, "--project", str(self.folder), log=self.killed_log
            )
            kill_when(process, lambda seen=seen: bool(set(data.glob("*.parquet")) - seen))  # type: ignore[misc]
            if not self._count(str(self.task.target), f"order_date = DATE '{DAY}'"):
                return
            # Too late, it had committed: take the day away and try once more.
            self._sql(f"DELETE FROM {self.task.target} WHERE order_date = DATE '{DAY}'")
        raise EngineFailed("the task was too fast to be killed in its write")

    def _run(self, dates: Dates, *, checksum: bool = False) -> RunResult:
        settings = self.project.settings
        plan = make_plan(self.project.graph, select=(), dates=dates)
        with open_ledger(settings.ledger_url, root=settings.root, create=True) as ledger:
            runner = Runner(engine=self.engine, ledger=ledger, checksum=checksum)
            (result,) = runner.run(plan)
        if result.error:
            raise result.error
        return result

    def _neighbours(self) -> list[str]:
        plans = (
            make_plan(self.project.graph, select=(), dates=Dates(ds=d)) for d in (BEFORE, AFTER)
        )
        return [
            self.engine.checksum(self.task, step.window, None)
            for plan in plans
            for step in plan.steps
        ]

    def _count(self, table: str, where: str = "true") -> int:
        return int(self._sql(f"SELECT count(*) FROM {table} WHERE {where}")[0][0])

    def _revenue(self, table: str, where: str) -> str:
        query = f"SELECT sum(amount) FROM {table} WHERE {where}"
        return f"{self._sql(query)[0][0]:,}"

    def _sql(self, statement: str) -> list[Any]:
        return list(self.engine.spark.sql(statement).collect())


def _copy_project(folder: Path) -> None:
    origin = resources.files("setpoint.demo") / "project"
    with resources.as_file(origin) as path:
        shutil.copytree(
            path, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__")
        )
