"""The same project through a Spark Connect server: only public APIs are used."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pyspark
import pytest

from setpoint.engine.spark.jars import ICEBERG, resolve_jars
from setpoint.engine.spark.session import EXTENSIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.process.conftest import Shell

pytestmark = pytest.mark.process
PATIENCE = 120


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Spark Connect server of its own on loopback."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    jars = os.pathsep.join(map(str, resolve_jars(ICEBERG, say=print)))
    conf = {
        "spark.driver.extraClassPath": jars,
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.sql.extensions": EXTENSIONS,
        "spark.sql.shuffle.partitions": "2",
    }
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    options = [part for key, value in conf.items() for part in ("--conf", f"{key}={value}")]
    log = tmp_path_factory.mktemp("connect") / "server.log"
    with log.open("w") as file:
        process = subprocess.Popen(
            [
                str(submit),
                "--master",
                "local[2]",
                "--class",
                "org.apache.spark.sql.connect.service.SparkConnectServer",
                *options,
                "spark-internal",
            ],
            stdout=file,
            stderr=subprocess.STDOUT,
        )
    try:
        _wait_for(port, process, log)
        yield f"sc://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        assert process.poll() is None, log.read_text()
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError(log.read_text())


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
