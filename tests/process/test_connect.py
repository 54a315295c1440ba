"""The same project through a Spark Connect server: only public APIs are used."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.spark_server import SparkServer

from setpoint.engine.spark.jars import ICEBERG
from setpoint.engine.spark.session import EXTENSIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.process.conftest import Shell

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Spark Connect server of its own on loopback."""
    folder = tmp_path_factory.mktemp("connect")
    server = SparkServer(folder, ICEBERG, {"spark.sql.extensions": EXTENSIONS})
    yield server.url
    server.close()


def test_a_project_runs_the_same_through_connect(shell: Shell, server: str) -> None:
    """Windows are set, gates fire with samples, clocks are refused: as on classic Spark."""
    shell("init", "shop")
    shell.folder /= "shop"
    (shell.folder / "warehouse").mkdir()
    toml = shell.folder / "setpoint.toml"
    toml.write_text(toml.read_text() + f'\n[spark]\nremote = "{server}"\n')
    runs = [
        json.loads(shell("run", "--output", "json", "--checksum").stdout)["runs"] for _ in range(2)
    ]
    assert [entry["rows"] for entry in runs[0]] == [1000, 1000, 4]
    assert [e["checksum"] for e in runs[0]] == [e["checksum"] for e in runs[1]]

    task = shell.folder / "pipelines" / "orders.py"
    sound = task.read_text()
    task.write_text(sound.replace('"amount >= 0"', '"amount > 400"'))
    failed = shell("run", code=1).stderr
    assert "amount_is_positive" in failed
    assert "order_id=" in failed
    task.write_text(sound.replace('F.to_date("ordered_at")', "F.current_date()"))
    assert "current_date in column order_date" in shell("run", code=1).stderr


def test_a_merge_runs_the_same_through_connect(shell: Shell, server: str) -> None:
    """The newest version wins, a tie is refused, and a run is replayed on what it read."""
    shell("init", "shop")
    shell.folder /= "shop"
    (shell.folder / "warehouse").mkdir()
    toml = shell.folder / "setpoint.toml"
    toml.write_text(toml.read_text() + f'\n[spark]\nremote = "{server}"\n')
    task = shell.folder / "pipelines" / "buyers.sql"
    task.write_text(
        "/*\ntarget: lake.shop.buyers\ngrain: day\n"
        "write: {merge: {on: region, version: ordered_at, delete_when: amount < 0}}\n"
        "sources: {orders: {table: lake.shop.orders, event_time: ordered_at}}\n*/\n"
        "SELECT region, ordered_at, amount FROM orders"
    )
    chosen = ("run", "--select", "buyers", "--output", "json", "--checksum")
    runs = [json.loads(shell(*chosen).stdout)["runs"][-1] for _ in range(2)]
    assert runs[0]["rows"] > 0
    assert runs[1]["rows"] == 0
    replayed = ("run", "--as-of-run", runs[0]["run_id"], "--output", "json", "--checksum")
    (again,) = json.loads(shell(*replayed).stdout)["runs"]
    assert runs[0]["checksum"] == runs[1]["checksum"] == again["checksum"]
    task.write_text(task.read_text().replace("amount FROM", "amount + 1 AS amount FROM"))
    assert "rows of one version differ" in shell(*chosen, code=1).stderr


def test_a_backfill_runs_on_the_server_that_its_pool_names(shell: Shell, server: str) -> None:
    """Windows together in one job, and windows one by one in two sessions of the server."""
    shell("init", "shop")
    shell.folder /= "shop"
    (shell.folder / "warehouse").mkdir()
    toml = shell.folder / "setpoint.toml"
    # A master that no Spark has: were the pool's server not used, nothing could run.
    toml.write_text(
        toml.read_text()
        + '\n[spark]\nmaster = "nowhere"\n'
        + f'[pools.night]\nlimit = 2\nremote = "{server}"\n'
    )
    asked = ("--start", "2026-01-01", "--end", "2026-01-04", "--with-upstream", "--output", "json")
    done = json.loads(shell("backfill", "revenue_daily", *asked, "--pool", "night").stdout)
    assert done["state"] == "succeeded"
    rows = {(each["task"], each["window_start"][:10]): each["rows"] for each in done["windows"]}
    days = ("2026-01-01", "2026-01-02", "2026-01-03")
    assert rows == {
        (task, day): count
        for task, count in (("sample_orders", 1000), ("orders", 1000), ("revenue_daily", 4))
        for day in days
    }
    again = json.loads(shell("backfill", "revenue_daily", *asked).stdout)
    assert (again["state"], again["windows"]) == ("succeeded", [])
