"""Who sends: this process, by marks that tell it from any that comes after it."""

from __future__ import annotations

import os

from setpoint.ledger.holder import is_gone, this_process
from setpoint.ledger.lease import Holder
from setpoint.model.delivery import Sender


def this_sender() -> Sender:
    """This process, with a claim of its own."""
    me = this_process()
    return Sender(
        claim=os.urandom(8).hex(), host=me.host, pid=me.pid, machine=me.machine, born=me.born
    )


def is_alive(sender: Sender) -> bool | None:
    """No for a process that has certainly ended; None where only time can tell."""
    holder = Holder(pid=sender.pid, host=sender.host, machine=sender.machine, born=sender.born)
    return False if is_gone(holder) else None
