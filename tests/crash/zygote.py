"""A warmed process that forks clients: each runs a project and may be killed, for little time.

It reads requests and writes answers, one JSON document a line. `Zygote` is the other end.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import subprocess
import sys
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PATIENCE = 120
NAP = 0.01


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How a client ended: by a signal, or with an answer."""

    signal: int | None
    answer: dict[str, Any] = field(default_factory=dict)


class Zygote:
    """Starts clients and waits for them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.kills = 0
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.crash.zygote"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._ask(do="hello") == "ready"

    def run(self, task: str, ds: str, **options: Any) -> Ended:
        """Start a client and wait for its end."""
        return self.wait(self.start(task, ds, **options))

    def start(
        self,
        task: str,
        ds: str,
        *,
        traps: str = "",
        workers: bool = False,
        checksum: bool = False,
        as_of_run: str | None = None,
    ) -> int:
        """Start a client on one task and day; its process id."""
        return int(
            self._ask(
                do="start",
                folder=str(self.folder),
                task=task,
                ds=ds,
                traps=traps,
                workers=workers,
                checksum=checksum,
                as_of_run=as_of_run,
            )
        )

    def wait(self, pid: int) -> Ended:
        """Wait until the client is gone."""
        status, answer = self._ask(do="wait", pid=pid)
        signal = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
        self.kills += signal is not None
        return Ended(signal=signal, answer=answer)

    def close(self) -> None:
        """Let the process end."""
        self._process.communicate(timeout=PATIENCE)

    def _ask(self, **request: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


def _serve() -> None:
    _warm()
    for line in sys.stdin:
        request = json.loads(line)
        if request["do"] == "hello":
            answer: Any = "ready"
        elif request["do"] == "start":
            answer = _fork(request)
        else:
            answer = _reap(request["pid"])
        print(json.dumps(answer), flush=True)  # noqa: T201 — this is how it answers


def _warm() -> None:
    """Import what a client needs, and connect to nothing."""
    import setpoint.engine.spark.delta
    import setpoint.engine.spark.engine
    import setpoint.engine.spark.iceberg
    import setpoint.engine.spark.parquet
    import setpoint.engine.spark.postgres.target
    import setpoint.running.project_run  # noqa: F401


def _answer_file(pid: int) -> Path:
    return Path(os.environ.get("TMPDIR", "/tmp")) / f"setpoint-client-{os.getuid()}-{pid}.json"


def _fork(request: dict[str, Any]) -> int:
    pid = os.fork()
    if pid:
        return pid
    before = set(sys.modules)
    try:
        os.dup2(2, 1)  # what a client prints is no answer
        sys.stdin.close()
        answer = _client(request)
    except BaseException:  # noqa: BLE001 — whatever it was is told to the test
        answer = {"state": "raised", "error": traceback.format_exc()}
    answer["modules"] = sorted(name for name in set(sys.modules) - before if "." in name)
    _answer_file(os.getpid()).write_text(json.dumps(answer))
    os._exit(0)


def _client(request: dict[str, Any]) -> dict[str, Any]:
    from setpoint.engine.spark.postgres import copying
    from setpoint.failpoint import VARIABLE
    from setpoint.running.project_run import run_project

    os.environ.pop(VARIABLE, None)
    if request["traps"]:
        os.environ[VARIABLE] = request["traps"]
    if request["workers"]:
        copying.SMALL_BYTES = -1
    chosen: dict[str, Any] = {"select": [request["task"]], "ds": request["ds"]}
    if request["as_of_run"]:
        chosen = {"as_of_run": request["as_of_run"]}
    (result,) = run_project(request["folder"], checksum=request["checksum"], **chosen)
    return {
        **result.document(),
        "adopted": result.adopted,
        "warnings": list(result.warnings),
        "kind": type(result.error).__name__ if result.error else None,
    }


def _reap(pid: int) -> tuple[int, dict[str, Any]]:
    until = time.monotonic() + PATIENCE
    while True:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            break
        assert time.monotonic() < until, "a client does not end"
        time.sleep(NAP)
    file = _answer_file(pid)
    answer = json.loads(file.read_text()) if file.exists() else {}
    file.unlink(missing_ok=True)
    for name in answer.pop("modules", ()):
        # What one client had to import, the next ones inherit.
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    return status, answer


if __name__ == "__main__":
    _serve()
