"""The second act of `make demo`: the whole shop, killed again and again, against a clean night.

From the repository's top: `python -m examples.shop.night_of_crashes`. One shop is run for a day
without a fault. The same shop beside it is killed (SIGKILL) at moments that hurt, and run again
each time. In the end every table of the two is compared by checksum.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
import tempfile
import time
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import psycopg
from examples.shop import company, database
from examples.shop.payments_api import PaymentsApi
from examples.shop.receivers import Receivers
from tests.postgres_server import PostgresServer

from setpoint import run_project
from setpoint.cli.demo import Terminal
from setpoint.cli.output import print_table
from setpoint.cli.words import seconds_text
from setpoint.demo.killing import finish, kill_when, start
from setpoint.project.project import load_project
from setpoint.running.project_run import spark_engine

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator

    from setpoint.demo.story import Teller

AFTER = Path(__file__).parent / "after"
DAY = "2026-04-25"
CLEAN, KILLED = "clean", "killed"
SIZE = company.Size()


@dataclass(frozen=True, kw_only=True)
class Crash:
    """A moment at which the process is killed."""

    words: str
    reached: Callable[[], bool]


@dataclass(frozen=True, kw_only=True)
class Compared:
    """One table of both shops."""

    table: str
    clean: str
    killed: str

    @property
    def same(self) -> bool:
        """Whether both hold the same rows."""
        return self.clean == self.killed


class Night:
    """Two shops, one of them killed again and again."""

    def __init__(self, folder: Path, server: PostgresServer, teller: Teller) -> None:
        self.folder = folder
        self.server = server
        self.teller = teller

    def tell(self) -> list[Compared]:
        """Run both shops; what each table holds in the end."""
        with self.teller.working("opening two shops: Postgres, a lake and a payment provider each"):
            self.server.run("CREATE DATABASE template_shop")
            database.fill(self._address("template_shop"), SIZE)
            for name in (CLEAN, KILLED):
                self.server.run(f"CREATE DATABASE {name} TEMPLATE template_shop")
                shutil.copytree(
                    AFTER,
                    self.folder / name,
                    ignore=shutil.ignore_patterns(".setpoint", "warehouse", "__pycache__"),
                )
        with self.teller.working(f"a clean night: thirteen tasks for {DAY}"), self._inside(CLEAN):
            results = run_project(self.folder / CLEAN, ds=DAY)
        for result in results:
            if result.error:
                raise result.error
        self.teller.tell(f"a clean night: {len(results)} tasks, every one green")
        with self._inside(KILLED):
            for crash in self._crashes():
                self._run_and_kill(crash)
            with self.teller.working("the scheduler retries it once more"):
                finish(self._start())
        self.teller.tell("the last retry went through")
        with self.teller.working("comparing every table by checksum"):
            sums = {name: self._checksums(name) for name in (CLEAN, KILLED)}
        return [
            Compared(table=table, clean=found, killed=sums[KILLED][table])
            for table, found in sums[CLEAN].items()
        ]

    def _crashes(self) -> Iterator[Crash]:
        # In the order in which the tasks run: each moment is new to the run that is killed at it.
        yield Crash(words="dim_customer, right after the lake had its commit", reached=self._merged)
        warehouse = self.folder / KILLED / "warehouse"
        yield Crash(
            words="raw orders, while its files were being written",
            reached=lambda: any(warehouse.glob("raw/orders/data/**/*.parquet")),
        )
        yield Crash(
            words="daily_customer_summary, before the mart had its day", reached=self._serving
        )

    def _merged(self) -> bool:
        """Whether the catalog points to the merge of the dimension, not only to its creation."""
        catalog = self.folder / KILLED / "warehouse" / "catalog.db"
        query = "SELECT metadata_location FROM iceberg_tables WHERE table_name = 'dim_customer'"
        try:
            with closing(sqlite3.connect(f"file:{catalog}?mode=ro", uri=True)) as connection:
                return any("/00001-" in place for (place,) in connection.execute(query))
        except sqlite3.Error:  # not made yet, or just being written
            return False

    def _serving(self) -> bool:
        """Whether the mart has the table that the summary goes into."""
        query = "SELECT to_regclass('serving.daily_customer_summary')"
        with psycopg.connect(self._address(KILLED)) as connection:
            return connection.execute(query).fetchone() != (None,)

    def _run_and_kill(self, crash: Crash) -> None:
        with self.teller.working("the killed shop's night"):
            if not kill_when(self._start(), crash.reached):
                raise SystemExit(f"the run ended before it could be killed: {crash.words}")
        self.teller.tell(f"killed (SIGKILL) in {crash.words}")

    def _start(self) -> subprocess.Popen[str]:
        log = self.folder / "killed.log"
        arguments = ("run", "--ds", DAY, "--project", str(self.folder / KILLED))
        return start("setpoint", *arguments, log=log)

    def _checksums(self, name: str) -> dict[str, str]:
        with self._inside(name):
            project = load_project(self.folder / name)
            engine = spark_engine(project.settings, say=lambda _text: None)
            tasks = project.graph.upstream_first()
            return {str(task.target): engine.checksum(task, None, None) for task in tasks}

    @contextmanager
    def _inside(self, name: str) -> Iterator[None]:
        """The environment of one of the shops, with a payment provider that listens."""
        with PaymentsApi(company.payments(SIZE)) as api, Receivers() as receivers:
            given = {
                "SHOP_DB": self._address(name),
                "PAYMENTS_URL": api.url,
                **receivers.environment,
            }
            before = {key: os.environ.get(key) for key in given}
            os.environ.update(given)
            try:
                yield
            finally:
                for key, value in before.items():
                    if value is None:
                        del os.environ[key]
                    else:
                        os.environ[key] = value

    def _address(self, name: str) -> str:
        password = quote(self.server.password, safe="")
        return f"postgresql://postgres:{password}@127.0.0.1:{self.server.port}/{name}"


def main() -> None:
    """Tell the night, and print what each table holds."""
    begun = time.monotonic()
    teller = Terminal()
    teller.chapter("The second act: a whole shop, killed three times in one night")
    folder = Path(tempfile.mkdtemp(prefix="setpoint-night-"))
    server = PostgresServer()
    try:
        compared = Night(folder, server, teller).tell()
    finally:
        server.close()
    print_table(
        ["table", "rows", "clean night", "killed three times"],
        [
            [one.table, one.clean.split(":")[1], one.clean, "the same" if one.same else one.killed]
            for one in compared
        ],
        right=["rows"],
    )
    teller.tell(f"told in {seconds_text(time.monotonic() - begun)}; both projects are in {folder}")
    if not all(one.same for one in compared):
        sys.exit(1)


if __name__ == "__main__":
    main()
