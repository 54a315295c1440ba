"""A real Postgres for all tests; a database of its own, and a project on it, for each."""

from __future__ import annotations

import secrets
import time
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from tests.postgres_server import PATIENCE, PostgresServer
from tests.spark.conftest import ORDERS, Bench

from setpoint.engine.spark.engine import SparkEngine
from setpoint.project.settings import read_settings

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

CONNECTION = '[connections.mart]\nurl = "{url}"\npassword = "${{MART_PASSWORD}}"\n'
SUMMARY = """
@task(target="mart.public.daily", grain="day", write=replace(by="order_date"),
      unique_key=["order_date", "customer"],
      sources={"raw": Source("lake.raw.orders", event_time="ordered_at")})
def daily(raw):
    return (raw.withColumn("order_date", F.to_date("ordered_at"))
            .withColumn("customer", F.expr("order_id % 12"))
            .groupBy("order_date", "customer")
            .agg(F.count("*").alias("orders"), F.sum("amount").alias("revenue")))
"""


class UntilServed(list[float]):
    """Waits between attempts, each as long as it takes the server to answer again."""

    def __init__(self, server: PostgresServer) -> None:
        super().__init__()
        self.server = server

    def append(self, seconds: float) -> None:
        """Wait for the server, not for the clock."""
        super().append(seconds)
        until = time.monotonic() + PATIENCE
        while True:
            try:
                self.server.run("SELECT 1")
            except psycopg.OperationalError:
                assert time.monotonic() < until, "the server did not come back"
                time.sleep(0.05)
            else:
                return


class Mart(Bench):
    """A project with a connection `mart` to a database of its own."""

    def __init__(self, root: Path, server: PostgresServer) -> None:
        super().__init__(root)
        self.server = server
        self.waits = UntilServed(server)
        self.database = f"d{secrets.token_hex(6)}"
        server.run(f"CREATE DATABASE {self.database}")
        self.url = server.url.rpartition("/")[0] + f"/{self.database}"
        path = root / "setpoint.toml"
        path.write_text(path.read_text() + CONNECTION.format(url=self.url))
        self.engine = self.new_engine()

    def new_engine(self) -> SparkEngine:
        """Another engine on the same project, as another process would have."""
        return SparkEngine(read_settings(self.root), say=lambda _text: None)

    def connect(self, **options: Any) -> psycopg.Connection[tuple[Any, ...]]:
        """A connection to the database that commits each statement."""
        return psycopg.connect(self.url, password=self.server.password, autocommit=True, **options)

    def pg(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Run one statement in the database; its rows if it has any."""
        with self.connect() as connection:
            cursor = connection.execute(query.encode(), values or None)
            return cursor.fetchall() if cursor.description else []

    def staging(self) -> list[str]:
        """The staging tables that are there."""
        query = "SELECT tablename FROM pg_tables WHERE schemaname = 'setpoint_staging'"
        return [name for (name,) in self.pg(query)]


@pytest.fixture
def mart(
    jvm: SparkSession,  # noqa: ARG001 — the JVM must be up
    server: PostgresServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Mart:
    """A project of its own on the shared JVM and the shared server."""
    monkeypatch.setenv("MART_PASSWORD", server.password)
    return Mart(tmp_path, server)


@pytest.fixture
def shop(mart: Mart) -> Mart:
    """Three days of 144 orders each, from the 24th, and a summary of a day in the mart."""
    mart.table("lake.raw.orders", ORDERS)
    mart.python(SUMMARY)
    return mart


@pytest.fixture(params=["driver", "workers"])
def path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways in which rows travel: from the driver, and from the workers."""
    from setpoint.engine.spark.postgres import copying

    if request.param == "workers":
        monkeypatch.setattr(copying, "SMALL_BYTES", -1)
    return str(request.param)
