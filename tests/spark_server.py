"""A Spark Connect server of one's own on loopback: clients of it are cheap to start and to kill."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pyspark

from setpoint.engine.spark.jars import resolve_jars

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PATIENCE = 120


class SparkServer:
    """One server process; its log is beside it."""

    def __init__(
        self, folder: Path, packages: Sequence[str], conf: Mapping[str, str], cores: int = 2
    ) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        self.log = folder / "server.log"
        settings = {
            "spark.driver.extraClassPath": os.pathsep.join(
                map(str, resolve_jars(packages, say=print))
            ),
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": str(self.port),
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.ui.enabled": "false",
            "spark.log.level": "WARN",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.warehouse.dir": str(folder / "spark-warehouse"),
            **conf,
        }
        options = [part for key, value in settings.items() for part in ("--conf", f"{key}={value}")]
        with self.log.open("w") as file:
            self.process = subprocess.Popen(
                [
                    str(Path(pyspark.__file__).parent / "bin" / "spark-submit"),
                    "--master",
                    f"local[{cores}]",
                    "--class",
                    "org.apache.spark.sql.connect.service.SparkConnectServer",
                    *options,
                    "spark-internal",
                ],
                cwd=folder,
                env={**os.environ, "PYSPARK_PYTHON": sys.executable},
                stdout=file,
                stderr=subprocess.STDOUT,
            )
        try:
            self._wait()
        except BaseException:
            self.close()
            raise

    @property
    def url(self) -> str:
        """The address, for `spark.remote`."""
        return f"sc://127.0.0.1:{self.port}"

    def close(self) -> None:
        """End the server."""
        self.process.kill()
        self.process.wait()

    def _wait(self) -> None:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            assert self.process.poll() is None, self.log.read_text()
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.1)
        raise AssertionError(self.log.read_text())
