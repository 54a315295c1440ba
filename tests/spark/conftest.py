"""One Spark for all tests; a fresh project, with a lake of its own, for each."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import pytest

from setpoint.engine.spark.engine import SparkEngine
from setpoint.engine.spark.session import open_session
from setpoint.ledger.memory import MemoryLedger
from setpoint.model.plan import Dates, make_plan
from setpoint.project.project import load_project
from setpoint.project.settings import read_settings
from setpoint.running.runner import Runner

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.postgres_server import PostgresServer

    from setpoint.errors import SetpointError
    from setpoint.running.result import RunResult

TOML = '[project]\nname = "test"\n[spark.conf]\n"spark.sql.shuffle.partitions" = 2\n'
# Extensions of Spark are fixed when it starts, so the one JVM has those of every kind of catalog.
EVERY_EXTENSION = (
    TOML + '[catalogs.lake]\n[catalogs.dl]\ntype = "delta"\n'
    '[connections.mart]\nurl = "postgresql://127.0.0.1/nobody"\n'
)
HEAD = "from pyspark.sql import functions as F\nfrom setpoint import *\n"


@pytest.fixture(scope="session")
def jvm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The one JVM that the tests share."""
    root = tmp_path_factory.mktemp("shared")
    (root / "setpoint.toml").write_text(EVERY_EXTENSION)
    spark, _ = open_session(read_settings(root), say=lambda _text: None)
    yield spark
    spark.stop()


@pytest.fixture(scope="module")
def mart_connection(server: PostgresServer) -> Iterator[str]:
    """A connection `mart`, as text for setpoint.toml, with its password in the environment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MART_PASSWORD", server.password)
        yield f'[connections.mart]\nurl = "{server.url}"\npassword = "${{MART_PASSWORD}}"\n'


class Bench:
    """A project on disk with an engine and a ledger, to try things on."""

    def __init__(self, root: Path, toml: str = TOML) -> None:
        self.root = root
        self.ledger = MemoryLedger()
        (root / "setpoint.toml").write_text(toml)
        (root / "pipelines").mkdir()
        self.engine = SparkEngine(read_settings(root), say=lambda _text: None)
        self.waits: list[float] = []

    @property
    def spark(self) -> SparkSession:
        """The project's own session."""
        return self.engine.spark

    def python(self, code: str, name: str = "tasks") -> None:
        """Write a Python task file."""
        (self.root / "pipelines" / f"{name}.py").write_text(HEAD + textwrap.dedent(code))

    def sql(self, text: str, name: str) -> None:
        """Write a SQL task file."""
        (self.root / "pipelines" / f"{name}.sql").write_text(textwrap.dedent(text).strip())

    def table(self, name: str, query: str, partition: str = "") -> None:
        """Create or replace a table with the result of a query."""
        self.spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {name.rpartition('.')[0]}")
        by = f"PARTITIONED BY ({partition})" if partition else ""
        self.spark.sql(f"CREATE OR REPLACE TABLE {name} USING iceberg {by} AS {query}")

    def run(
        self,
        ds: str | None = None,
        *,
        start: str | None = None,
        end: str | None = None,
        select: tuple[str, ...] = (),
        checksum: bool = False,
    ) -> list[RunResult]:
        """Load the project and run it."""
        graph = load_project(self.root).graph
        plan = make_plan(graph, select=select, dates=Dates(ds=ds, start=start, end=end))
        runner = Runner(
            engine=self.engine,
            ledger=self.ledger,
            checksum=checksum,
            effects="usual",
            wait=self.waits.append,
        )
        return list(runner.run(plan))

    def ok(self, ds: str | None = None, **options: Any) -> list[RunResult]:
        """Run, and insist that everything succeeded."""
        results = self.run(ds, **options)
        for result in results:
            if result.error:
                raise result.error
        return results

    def error(self, ds: str | None = None, **options: Any) -> SetpointError:
        """Run, and insist that the last step failed; its error."""
        result = self.run(ds, **options)[-1]
        assert result.state == "failed", result
        assert result.error is not None
        return result.error

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a query, as tuples."""
        return [tuple(row) for row in self.spark.sql(query).collect()]

    def count(self, table: str, where: str = "true") -> int:
        """The number of rows."""
        return int(self.rows(f"SELECT count(*) FROM {table} WHERE {where}")[0][0])

    def exists(self, table: str) -> bool:
        """Whether the table exists."""
        return bool(self.spark.catalog.tableExists(table))


@pytest.fixture
def bench(jvm: SparkSession, tmp_path: Path) -> Bench:  # noqa: ARG001 — the JVM must be up
    """A project of its own on the shared JVM."""
    return Bench(tmp_path)


ORDERS = """
SELECT id AS order_id, CAST(id AS DECIMAL(10,2)) AS amount,
       timestamp_seconds(unix_seconds(TIMESTAMP '2026-04-24 00:00:00Z') + id * 600) AS ordered_at
FROM range(432)
"""

COPY = """
@task(target="lake.shop.orders", grain="day", write=overwrite(by="order_date"),
      unique_key="order_id", sources={"raw": Source("lake.raw.orders", event_time="ordered_at")})
def orders(raw):
    return raw.withColumn("order_date", F.to_date("ordered_at"))
"""


@pytest.fixture
def shop(bench: Bench) -> Bench:
    """Three days of 144 orders each, from the 24th, and the task that copies a day."""
    bench.table("lake.raw.orders", ORDERS)
    bench.python(COPY)
    return bench
