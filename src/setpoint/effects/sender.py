"""Who sends: this process, by marks that tell it from any that comes after it."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from setpoint.model.delivery import Sender


def this_sender() -> Sender:
    """This process, with a claim of its own."""
    pid = os.getpid()
    return Sender(
        claim=os.urandom(8).hex(), host=socket.gethostname(), pid=pid, born=_born(pid) or ""
    )


def is_alive(sender: Sender) -> bool | None:
    """Whether that process still runs; None on another machine, where it cannot be asked."""
    if sender.host != socket.gethostname():
        return None
    try:
        os.kill(sender.pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    born = _born(sender.pid)
    # Numbers of processes are given out again.
    return born is None or not sender.born or born == sender.born


def _born(pid: int) -> str | None:
    """When a process began, in the kernel's ticks, where the kernel tells; "" for a dead one."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return None
    return "dead" if fields[0] in "ZX" else f"{boot}/{fields[19]}"
