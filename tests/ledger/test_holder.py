"""Whether a process is gone: known on the machine itself, guessed nowhere."""

from __future__ import annotations

import signal
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from setpoint.ledger import holder
from setpoint.ledger.holder import is_gone, this_process

if TYPE_CHECKING:
    from setpoint.ledger.lease import Holder

pytestmark = pytest.mark.skipif(
    not holder.BOOT.exists(), reason="processes are told apart by /proc"
)
ASLEEP = [sys.executable, "-c", "import time; print(flush=True); time.sleep(600)"]


def of(pid: int) -> Holder:
    """Another process of this machine, as it would name itself."""
    seen = holder._seen(pid)
    assert seen is not None
    return replace(this_process(), pid=pid, born=seen[holder.BORN])


def test_this_process_is_not_gone() -> None:
    """It is looking."""
    assert not is_gone(this_process())


def test_a_killed_process_is_gone_also_before_its_parent_took_notice() -> None:
    """A zombie writes nothing any more."""
    with subprocess.Popen(ASLEEP, stdout=subprocess.PIPE) as asleep:
        assert asleep.stdout is not None
        asleep.stdout.readline()
        who = of(asleep.pid)
        assert not is_gone(who)
        asleep.send_signal(signal.SIGSTOP)
        assert not is_gone(who)
        asleep.kill()
        asleep.stdout.read()  # ends when the process has; nobody has waited for it yet
        while not is_gone(who):
            pass
    assert is_gone(who)


def test_a_process_number_that_was_given_again_does_not_stand_for_the_dead() -> None:
    """The number is there, but began at another time."""
    assert is_gone(replace(this_process(), born="1"))


@pytest.mark.parametrize("change", [{"machine": "another/1"}, {"machine": ""}, {"born": ""}])
def test_what_cannot_be_known_is_not_claimed(change: dict[str, str]) -> None:
    """Another machine or container, or one that does not tell: then only its beat counts."""
    assert not is_gone(replace(this_process(), pid=2**22 + 1, **change))


def test_without_proc_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then a dead process's lease is waited for."""
    monkeypatch.setattr(holder, "BOOT", holder.BOOT / "nowhere")
    assert this_process().machine == ""
    assert not is_gone(this_process())
