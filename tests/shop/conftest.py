"""A shop for each test: a database of its own on one server, and somebody who listens."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import psycopg
import pytest
from examples.shop import company, database
from examples.shop.payments_api import PaymentsApi
from examples.shop.receivers import Receivers
from tests.postgres_server import PostgresServer

if TYPE_CHECKING:
    from collections.abc import Iterator

BEFORE = Path(__file__).parents[2] / "examples" / "shop" / "before"
SIZE = company.Size(days=4, customers=30, orders_a_day=120, events_a_day=90, movements_a_day=20)
DAY = "2026-04-21"
PATIENCE = 120
AT = "import runpy, sys, time_machine\nsys.argv = sys.argv[2:]\n"


@pytest.fixture(scope="session")
def server() -> Iterator[PostgresServer]:
    """The one server that the tests share."""
    server = PostgresServer()
    yield server
    server.close()


@pytest.fixture(scope="session")
def filled(server: PostgresServer) -> str:
    """A database with the shop in it, from which the others are copied."""
    server.run("CREATE DATABASE shop_template")
    database.fill(address(server, "shop_template"), SIZE)
    return "shop_template"


def address(server: PostgresServer, name: str) -> str:
    """The address of a database, with the password."""
    password = quote(server.password, safe="")
    return f"postgresql://postgres:{password}@127.0.0.1:{server.port}/{name}"


@dataclass(frozen=True, kw_only=True)
class Shop:
    """A shop that jobs can be run for."""

    url: str
    lake: Path
    api: PaymentsApi
    receivers: Receivers

    @property
    def environment(self) -> dict[str, str]:
        """What the jobs find in their environment."""
        return {
            **os.environ,
            **self.receivers.environment,
            "SHOP_DB": self.url,
            "SHOP_LAKE": str(self.lake),
            "PAYMENTS_URL": self.api.url,
        }

    def job(self, *command: str, at: str = "") -> subprocess.CompletedProcess[str]:
        """Run a job as its scheduler would; `at` is what its clock says."""
        line = [sys.executable, *command]
        if at:
            code = AT + f"with time_machine.travel({at!r}): runpy.run_path(sys.argv[0], "
            line = [sys.executable, "-c", code + "run_name='__main__')", "--", *command]
        return subprocess.run(
            line,
            cwd=BEFORE,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

    def done(self, *command: str, at: str = "") -> None:
        """Run a job that must succeed."""
        answer = self.job(*command, at=at)
        assert answer.returncode == 0, answer.stderr

    def sql(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Run one statement in the shop's database; its rows if it has any."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            cursor = connection.execute(query.encode(), values or None)
            return cursor.fetchall() if cursor.description else []

    def one(self, query: str, *values: Any) -> Any:
        """The one value that a query gives."""
        ((value,),) = self.sql(query, *values)
        return value


@contextmanager
def opened(server: PostgresServer, filled: str, lake: Path) -> Iterator[Shop]:
    """A shop with a database of its own."""
    name = f"shop_{secrets.token_hex(6)}"
    server.run(f"CREATE DATABASE {name} TEMPLATE {filled}")
    with PaymentsApi(company.payments(SIZE), page=50) as api, Receivers() as receivers:
        yield Shop(url=address(server, name), lake=lake, api=api, receivers=receivers)


@pytest.fixture
def shop(server: PostgresServer, filled: str, tmp_path: Path) -> Iterator[Shop]:
    """A shop of a few hundred rows a day."""
    with opened(server, filled, tmp_path / "lake") as shop:
        yield shop
