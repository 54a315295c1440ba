"""What the crashes happen to: a project with a task for each target and pattern, and its readers.

Each task sets a day from a number in the file `version`, so that a test knows every row that a
clean run leaves, and can tell the rows of one run from those of another.
"""

from __future__ import annotations

import os
import secrets
import shutil
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg
import pyarrow.dataset
from tests.crash.zygote import Ended, Zygote
from tests.postgres_server import PostgresServer
from tests.spark_server import SparkServer

from setpoint.engine.spark.engine import SparkEngine
from setpoint.engine.spark.jars import DELTA, ICEBERG, POSTGRES
from setpoint.engine.spark.session import DELTA_EXTENSIONS, DELTA_PARSER_CONF, EXTENSIONS
from setpoint.ledger.opening import open_ledger
from setpoint.model.grain import Grain, parse_instant
from setpoint.project.project import load_project

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from setpoint.ledger.record import Run

DAY = "2026-04-25"
NEIGHBOUR = "2026-04-24"
ROWS = 20
PATIENCE = 60
Rows = list[tuple[int, str, int]]

TOML = """\
[project]
name = "crash"
[ledger]
lease_seconds = 5
[spark]
remote = "{remote}"
[catalogs.lake]
warehouse = "lake"
[catalogs.dl]
type = "delta"
warehouse = "dl"
[catalogs.hive]
type = "parquet"
warehouse = "hive"
[connections.mart]
url = "{url}"
password = "${{MART_PASSWORD}}"
"""
HEAD = """\
import time
from pathlib import Path
from pyspark.sql import functions as F
from setpoint import Backoff, Source, merge, overwrite, replace, task

HERE = Path(__file__).parent.parent
SOON = Backoff(first=0.01)


def made(spark, window, vary):
    version = int((HERE / "version").read_text())
    rows = 0 if (HERE / "empty").exists() else {rows} + (version % 3 if vary else 0)
    first = window.start.day * 1000 if window else 0
    day = window.ds if window else "2026-04-25"
    found = spark.range(0, rows, 1, 1).selectExpr(
        f"id + {{first}} AS id", f"DATE '{{day}}' AS day", f"CAST({{version}} AS BIGINT) AS v")
    held = HERE / f"hold-{{version}}"
    if held.exists():
        path = str(held)

        def wait(n):
            Path(path + ".reached").touch()
            while Path(path).exists():
                time.sleep(0.02)
            return n

        found = found.withColumn("v", F.udf(wait, "long")("v"))
    return found

"""
TASK = """
@task(target="{target}", {grain}write={write}, retries={retries}, backoff=SOON)
def {name}(spark{window}):
    return made(spark, {given}, {vary})

"""


@dataclass(frozen=True, kw_only=True)
class Combination:
    """A pattern on a target."""

    name: str
    target: str
    write: str
    windowed: bool = True
    keeps: bool = False
    """Rows that a run does not bring stay: a merge."""
    workers: bool = False
    """Rows reach Postgres from Spark's workers."""

    @property
    def kind(self) -> str:
        """The kind of target."""
        return self.name.partition("_")[0]


COMBINATIONS = (
    Combination(name="iceberg_overwrite", target="lake.shop.o", write='overwrite(by="day")'),
    Combination(
        name="iceberg_merge",
        target="lake.shop.m",
        write='merge(on="id", version="v")',
        keeps=True,
    ),
    Combination(name="iceberg_replace", target="lake.shop.r", write="replace()", windowed=False),
    Combination(name="delta_overwrite", target="dl.shop.o", write='overwrite(by="day")'),
    Combination(
        name="delta_merge", target="dl.shop.m", write='merge(on="id", version="v")', keeps=True
    ),
    Combination(name="delta_replace", target="dl.shop.r", write="replace()", windowed=False),
    Combination(name="parquet_overwrite", target="hive.shop.o", write='overwrite(by="day")'),
    Combination(name="parquet_replace", target="hive.shop.r", write="replace()", windowed=False),
    Combination(name="postgres_replace", target="mart.shop.r", write='replace(by="day")'),
    Combination(
        name="postgres_merge", target="mart.shop.m", write='merge(on="id", version="v")', keeps=True
    ),
    Combination(
        name="postgres_workers", target="mart.shop.w", write='replace(by="day")', workers=True
    ),
)


class Scene:
    """A project, the servers it runs on, and clients to kill."""

    def __init__(self, folder: Path, server: SparkServer, postgres: PostgresServer) -> None:
        self.folder = folder
        self.server = server
        self.postgres = postgres
        self.database = f"d{secrets.token_hex(6)}"
        postgres.run(f"CREATE DATABASE {self.database}")
        os.environ["MART_PASSWORD"] = postgres.password
        self.url = f"{postgres.url.rpartition('/')[0]}/{self.database}"
        (folder / "setpoint.toml").write_text(TOML.format(remote=server.url, url=self.url))
        for name in ("pipelines", "lake", "dl", "hive"):
            (folder / name).mkdir()
        tasks = [
            TASK.format(
                name=each.name,
                target=each.target,
                write=each.write,
                grain='grain="day", ' if each.windowed else "",
                window=", window" if each.windowed else "",
                given="window" if each.windowed else "None",
                vary=not each.keeps,
                retries=0 if each.kind == "parquet" else 1,
            )
            for each in COMBINATIONS
        ]
        (folder / "pipelines" / "tasks.py").write_text(HEAD.format(rows=ROWS) + "".join(tasks))
        self.version = 0
        self.set_version(0)
        self.zygote = Zygote(folder)
        self.project = load_project(folder)
        self.engine = SparkEngine(self.project.settings, say=lambda _text: None)
        self.engine.start()

    def close(self) -> None:
        """End the clients' parent and this process's own session, before the servers end."""
        self.zygote.close()
        self.engine.spark.stop()

    def pg(self, query: str) -> list[tuple[Any, ...]]:
        """Run one statement in the scene's own database; its rows if it has any."""
        with psycopg.connect(self.url, password=self.postgres.password, autocommit=True) as found:
            cursor = found.execute(query.encode())
            return cursor.fetchall() if cursor.description else []

    def hold(self) -> Path:
        """Let the next version's rows wait, inside of Spark, until the file is gone."""
        held = self.folder / f"hold-{self.next_version()}"
        held.touch()
        return held

    def set_version(self, version: int) -> None:
        """Decide what the next run brings."""
        self.version = version
        (self.folder / "version").write_text(str(version))

    def next_version(self) -> int:
        """Let the next run bring other rows than any before."""
        self.set_version(self.version + 1)
        return self.version

    def run(self, combination: Combination, ds: str = DAY, **options: Any) -> Ended:
        """Run a combination's task in a client of its own."""
        return self.zygote.run(combination.name, ds, workers=combination.workers, **options)

    def start(self, combination: Combination, ds: str = DAY, **options: Any) -> int:
        """Start a client and do not wait for it."""
        return self.zygote.start(combination.name, ds, workers=combination.workers, **options)

    def ok(self, combination: Combination, ds: str = DAY, **options: Any) -> dict[str, Any]:
        """Run, and insist that it succeeded."""
        ended = self.run(combination, ds, **options)
        assert ended.answer.get("state") == "succeeded", (combination.name, ended)
        return ended.answer

    def rows(self, combination: Combination) -> Rows:
        """The rows that a reader sees, in order."""
        return sorted(self._rows(combination))

    def _rows(self, combination: Combination) -> Iterator[tuple[int, str, int]]:
        if combination.kind == "postgres":
            table = combination.target.removeprefix("mart.")
            for number, day, version in self.pg(f"SELECT id, day, v FROM {table}"):
                yield number, str(day), version
        elif combination.kind == "parquet":
            folder = self.table_folder(combination)
            found = pyarrow.dataset.dataset(folder, format="parquet", partitioning="hive")
            for row in found.to_table().to_pylist():
                yield row["id"], str(row["day"]), row["v"]
        else:
            name = combination.target
            if combination.kind == "delta":
                name = f"delta.`{self.table_folder(combination)}`"
            for row in self.engine.spark.sql(f"SELECT id, string(day), v FROM {name}").collect():
                yield row[0], row[1], row[2]

    def table_folder(self, combination: Combination) -> Path:
        """Where the table's files are."""
        return self.folder.joinpath(*combination.target.split("."))

    def drop(self, combination: Combination) -> None:
        """Let the table be gone."""
        if combination.kind == "iceberg":
            self.engine.spark.sql(f"DROP TABLE IF EXISTS {combination.target}")
        elif combination.kind == "postgres":
            table = combination.target.removeprefix("mart.")
            self.pg(f"DROP TABLE IF EXISTS {table}")
        else:
            shutil.rmtree(self.table_folder(combination), ignore_errors=True)

    def orphans(self, combination: Combination) -> list[str]:
        """What an attempt leaves behind that died while it staged."""
        if combination.kind == "postgres":
            query = "SELECT tablename FROM pg_tables WHERE schemaname = 'setpoint_staging'"
            return [name for (name,) in self.pg(query)]
        if combination.kind != "parquet":
            return []
        own = self.table_folder(combination) / "_setpoint"
        places = [*own.glob("staging/*"), *own.glob("trash/*"), *own.glob("intent.json")]
        return [str(path.relative_to(own)) for path in places]

    def recorded(self, combination: Combination, ds: str = DAY) -> Run | None:
        """What the ledger says about the task and day."""
        window = Grain.parse("day").window_at(parse_instant(ds)) if combination.windowed else None
        settings = self.project.settings
        with open_ledger(settings.ledger_url, root=settings.root, create=False) as ledger:
            return ledger.scope(
                combination.name,
                window.start if window else None,
                window.end if window else None,
            )

    def wait_for(self, condition: Any) -> None:
        """Wait until something is so."""
        until = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < until, "waited in vain"
            time.sleep(0.01)


def expected_rows(combination: Combination, version: int, *, neighbours: bool = True) -> Rows:
    """The rows that a clean run of a version leaves, beside a neighbour of version 0."""
    if not combination.windowed:
        return [(n, DAY, version) for n in range(ROWS + version % 3)]
    found = []
    for day, number in [*([(NEIGHBOUR, 0)] if neighbours else []), (DAY, version)]:
        rows = ROWS + (0 if combination.keeps else number % 3)
        found += [(int(day[-2:]) * 1000 + n, day, number) for n in range(rows)]
    return sorted(found)


def open_servers(folder: Path) -> tuple[SparkServer, PostgresServer]:
    """A Spark that knows Iceberg and Delta, and a Postgres."""
    conf = {
        "spark.sql.extensions": f"{EXTENSIONS},{DELTA_EXTENSIONS}",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.databricks.delta.snapshotPartitions": "1",
        **DELTA_PARSER_CONF,
    }
    return SparkServer(folder, (*ICEBERG, *DELTA, *POSTGRES), conf, cores=3), PostgresServer()
