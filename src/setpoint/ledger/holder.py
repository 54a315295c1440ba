"""Which process this is, and whether another one is gone for good.

On Linux both are read from /proc. Elsewhere nothing is known, which means: wait for the lease.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path

from setpoint.ledger.lease import Holder

BOOT = Path("/proc/sys/kernel/random/boot_id")
NUMBERING = Path("/proc/self/ns/pid")
DEAD = ("Z", "X", "x")
# Of /proc/PID/stat after the name in brackets: the state, and the start in ticks since boot.
STATE, BORN = 0, 19


def this_process() -> Holder:
    """The process that asks."""
    pid = os.getpid()
    seen = _seen(pid)
    return Holder(
        pid=pid,
        host=socket.gethostname(),
        machine=_machine(),
        born=seen[BORN] if seen else "",
    )


def is_gone(holder: Holder) -> bool:
    """Whether the process has certainly ended; no when that cannot be known from here.

    Two machines may have one name, and two containers of one machine the same process numbers:
    only what was started by the same kernel and in the same numbering is judged.
    """
    if not holder.machine or not holder.born or holder.machine != _machine():
        return False
    seen = _seen(holder.pid)
    # A number that was given to a later process does not keep the dead one's lease alive.
    return seen is None or seen[STATE] in DEAD or seen[BORN] != holder.born


def _machine() -> str:
    """The boot of this kernel, and the numbering of processes that this one sees."""
    try:
        boot = BOOT.read_text(encoding="ascii").strip()
        return f"{boot}/{NUMBERING.stat().st_ino}"
    except OSError:
        return ""


def _seen(pid: int) -> list[str] | None:
    """What the kernel says of a process; None when there is none."""
    try:
        said = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The name may hold spaces and brackets; the last bracket ends it.
    return said.rpartition(")")[2].split()
