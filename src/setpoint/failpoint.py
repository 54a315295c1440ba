"""Named places at which a test can kill, stop, delay or fail a process.

They are off unless the environment has SETPOINT_FAILPOINT: one or more of `name:action[:argument]`,
separated by commas.

    kill    end the process as `kill -9` does
    stop    stop it as `kill -STOP` does, until somebody sends SIGCONT
    raise   a transient error
    delay   wait for as many seconds as the argument says
    note    write the name to the file that the argument names; the name `*` notes every place

For kill, stop and raise the argument says when. A number: at that pass of this process, the first
being 1. A path: only if no such file is there, and it is made at once, so that a retry passes.
"""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from dataclasses import dataclass

from setpoint.errors import Transient, UsageError

VARIABLE = "SETPOINT_FAILPOINT"
EVERY = "*"
ACTIONS = ("kill", "stop", "raise", "delay", "note")
_passes: Counter[str] = Counter()


@dataclass(frozen=True, kw_only=True)
class Trap:
    """What shall happen at one place."""

    name: str
    action: str
    argument: str | None = None


def failpoint(name: str) -> None:
    """Do what the environment says about this place; nothing when it says nothing."""
    if VARIABLE in os.environ:
        _pass(name, os.environ[VARIABLE])


def parse_traps(text: str) -> tuple[Trap, ...]:
    """Understand the variable; a word that is wrong must not pass for a run without faults."""
    traps = []
    for part in filter(None, text.split(",")):
        name, _, rest = part.partition(":")
        action, _, argument = rest.partition(":")
        if not name or action not in ACTIONS or (action in ("delay", "note") and not argument):
            raise UsageError(
                f"{VARIABLE} is not understood: {part!r}",
                next_step=f"name:action[:argument], the action being one of {', '.join(ACTIONS)}",
            )
        traps.append(Trap(name=name, action=action, argument=argument or None))
    return tuple(traps)


def _pass(name: str, text: str) -> None:
    _passes[name] += 1
    for trap in parse_traps(text):
        if trap.name == name or (trap.name == EVERY and trap.action == "note"):
            _spring(trap, name)


def _spring(trap: Trap, name: str) -> None:
    if trap.action == "note":
        _append(str(trap.argument), name)
    elif trap.action == "delay":
        time.sleep(float(trap.argument or 0))
    elif _is_time(trap.argument, _passes[name]):
        if trap.action == "raise":
            raise Transient(f"the failpoint {name} was set to fail")
        os.kill(os.getpid(), signal.SIGKILL if trap.action == "kill" else signal.SIGSTOP)


def _is_time(when: str | None, passes: int) -> bool:
    if when is None:
        return True
    if when.isdigit():
        return passes == int(when)
    try:
        os.close(os.open(when, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    except FileExistsError:
        return False
    return True


def _append(path: str, line: str) -> None:
    file = os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    try:
        os.write(file, f"{line}\n".encode())
    finally:
        os.close(file)
