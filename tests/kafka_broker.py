"""A real Kafka: one broker that is its own controller, from the jars of the Maven artifact."""

from __future__ import annotations

import socket
import subprocess
import tempfile
import time
from pathlib import Path

from setpoint.engine.spark.jars import jar_folder, resolve_jars
from setpoint.engine.spark.java import find_java

PACKAGES = ("org.apache.kafka:kafka_2.13:4.1.0",)
PATIENCE = 60
SETTINGS = """
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs={folder}/logs
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
num.partitions=1
auto.create.topics.enable=true
group.initial.rebalance.delay.ms=0
"""


class KafkaBroker:
    """Starts in a folder of its own; `close` ends it."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        folder = Path(self._folder.name)
        self.port, controller = _free_port(), _free_port()
        settings = folder / "server.properties"
        settings.write_text(SETTINGS.format(port=self.port, controller=controller, folder=folder))
        self._java = [str(find_java().path), "-Xmx256m", "-cp", _class_path()]
        formatting = ["kafka.tools.StorageTool", "format", "-c", str(settings)]
        formatted = subprocess.run(
            [*self._java, *formatting, "-t", "c2V0cG9pbnQtdGVzdGluZw"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert formatted.returncode == 0, formatted.stdout + formatted.stderr
        self._log = (folder / "broker.log").open("w")
        self._process = subprocess.Popen(
            [*self._java, "kafka.Kafka", str(settings)],
            stdout=self._log,
            stderr=subprocess.STDOUT,
        )
        deadline = time.monotonic() + PATIENCE
        while not _listens(self.port):
            if self._process.poll() is not None or time.monotonic() > deadline:
                said = (folder / "broker.log").read_text()[-3000:]
                self.close()
                raise RuntimeError(f"Kafka did not start: {said}")
            time.sleep(0.1)

    @property
    def servers(self) -> str:
        """Where it listens."""
        return f"127.0.0.1:{self.port}"

    def close(self) -> None:
        """End the broker."""
        self._process.kill()
        self._process.wait()
        self._log.close()
        self._folder.cleanup()


def _class_path() -> str:
    """Kafka's jars, and Scala's from Spark, whose resolver leaves it out."""
    import pyspark

    resolve_jars(PACKAGES, say=lambda _text: None)
    spark = Path(pyspark.__file__).parent / "jars"
    scala = next(iter(sorted(spark.glob("scala-library-2.13*.jar"))))
    return f"{jar_folder(PACKAGES)}/*:{scala}"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0
