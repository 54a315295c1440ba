"""Failpoints: off by default, and doing exactly what the environment says."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.crash.failpoints import failpoints

from setpoint import failpoint as module
from setpoint.errors import Transient, UsageError
from setpoint.failpoint import VARIABLE, Trap, failpoint, parse_traps

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    module._passes.clear()


def test_a_failpoint_does_nothing_by_itself() -> None:
    """Production sets no variable, and passes."""
    failpoint("write.before")
    assert not module._passes


def test_raise_is_a_transient_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the named place fails."""
    monkeypatch.setenv(VARIABLE, "write.before:raise")
    failpoint("write.after")
    with pytest.raises(Transient, match=r"write\.before"):
        failpoint("write.before")


def test_a_number_names_the_pass_and_a_file_the_one_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The second pass of this process; or once for all processes, so that a retry passes."""
    monkeypatch.setenv(VARIABLE, f"a:raise:2,b:raise:{tmp_path / 'once'}")
    failpoint("a")
    with pytest.raises(Transient):
        failpoint("a")
    failpoint("a")
    with pytest.raises(Transient):
        failpoint("b")
    failpoint("b")
    assert (tmp_path / "once").exists()


def test_note_writes_down_what_is_passed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In order, whatever the names."""
    monkeypatch.setenv(VARIABLE, f"*:note:{tmp_path / 'notes'},c:delay:0")
    for name in ("a", "b", "c", "a"):
        failpoint(name)
    assert (tmp_path / "notes").read_text().split() == ["a", "b", "c", "a"]


@pytest.mark.parametrize("text", ["a", "a:burn", ":kill", "a:delay", "*:note"])
def test_a_word_that_is_not_understood_is_refused(text: str) -> None:
    """A mistyped trap must not pass for a run without faults."""
    with pytest.raises(UsageError, match=VARIABLE):
        parse_traps(text)


def test_several_traps_are_read() -> None:
    """Separated by commas; a path may hold colons."""
    assert parse_traps("a:kill,b:stop:/x:y") == (
        Trap(name="a", action="kill"),
        Trap(name="b", action="stop", argument="/x:y"),
    )


def test_kill_and_stop_are_the_real_signals() -> None:
    """The process is gone without a word, or stopped until it is continued."""
    code = "from setpoint.failpoint import failpoint; failpoint('here'); print('passed')"
    killed = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, VARIABLE: "here:kill"},
        capture_output=True,
        check=False,
    )
    assert (killed.returncode, killed.stdout) == (-signal.SIGKILL, b"")
    stopped = subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, VARIABLE: "here:stop"},
        stdout=subprocess.PIPE,
    )
    _, status = os.waitpid(stopped.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)
    stopped.send_signal(signal.SIGCONT)
    assert stopped.communicate()[0] == b"passed\n"


def test_the_list_of_failpoints_is_read_from_the_code() -> None:
    """Each name once, with its place; before and after the steps of every target."""
    found = failpoints()
    assert found["ledger.begin.before"].startswith("running/runner.py:")
    for part in ("iceberg.", "delta.", "parquet.", "swap.", "postgres.", "adopt.", "checksum."):
        assert any(name.startswith(part) for name in found), part
