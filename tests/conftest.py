"""Pure tests first, then those on Spark, then real processes: the fast ones fail fast."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, settings
from tests.long_tests import is_long

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.postgres_server import PostgresServer

ORDER = ("spark", "shop", "process", "crash")
# An example that takes long on a busy machine is no counter-example.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let `--all` run what is left to `make test-all`."""
    parser.addoption("--all", action="store_true", help="also what make test-all runs")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Sort by the folder that a test lies in; within one, the order stays."""
    if not config.getoption("--all"):
        left = [item for item in items if is_long(item.nodeid)]
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in left]
    tests = Path(__file__).parent

    def rank(item: pytest.Item) -> int:
        folder = item.path.relative_to(tests).parts[0]
        return ORDER.index(folder) + 1 if folder in ORDER else 0

    items.sort(key=rank)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many planted cases were caught, when they were tried."""
    from tests.verify.tally import TALLY

    if TALLY.broken or TALLY.sound:
        terminalreporter.section("planted cases")
        for line in TALLY.lines():
            terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def server() -> Iterator[PostgresServer]:
    """The one Postgres server that the tests share."""
    from tests.postgres_server import PostgresServer as Server

    server = Server()
    yield server
    server.close()


@pytest.fixture
def database(server: PostgresServer) -> str:
    """The URL of a database without a ledger, password and all."""
    server.run("DROP SCHEMA IF EXISTS setpoint_ledger CASCADE")
    return f"{server.url}?password={quote(server.password, safe='')}"
