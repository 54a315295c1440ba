"""Mechanisms, each with what stands in its place when it is switched off.

Production code has no switch. What stands here is put in the place of one function or constant, by
`start/sitecustomize.py`, in every process of a test. Nothing is imported at the top but the
standard library: the file is read in each of these processes, before all else.
"""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

GAP_SECONDS = 2.0
"""How long a write in two steps lasts between them, for a reader to see it."""


@dataclass(frozen=True, kw_only=True)
class Switch:
    """One mechanism, and how it is switched off."""

    off: str
    """What no longer happens, for a person."""
    module: str
    name: str
    """The function, method (`Class.method`) or constant in the module."""
    instead: Callable[[Any], Any]
    """Makes what stands in its place from what stood there."""


def _always(value: Any) -> Callable[[Any], Any]:
    """A function that gives one answer to everything."""
    return lambda _original: lambda *_given, **_options: value


def _whole_lease(_original: Any) -> Any:
    return lambda _store, lease: lease


def _by_the_clock(_original: Any) -> Any:
    def ended(_watch: Any, leases: Any, _now: float) -> tuple[Any, ...]:
        from datetime import datetime, timedelta, timezone

        now = datetime.now(timezone.utc)
        return tuple(
            each for each in leases if now > each.taken_at + timedelta(seconds=each.seconds)
        )

    return ended


def _renewed_or_lost(_original: Any) -> Any:
    def renew(held: Any, ledger: Any) -> None:
        from setpoint.errors import LedgerError

        try:
            held.lease = ledger.renew(held.lease)
        except LedgerError as error:
            held.lost = error
            if held._stop:
                held._stop()

    return renew


def _in_place(_original: Any) -> Any:
    return lambda folder, _token: folder.root


def _token_first(original: Any) -> Any:
    def swap(folder: Any, token: Any, **given: Any) -> Any:
        from dataclasses import asdict

        from setpoint.engine import swap as module

        counts = given["counts"]
        commit = module.Commit(
            number=folder._number() + 1,
            run_id=token.run_id,
            fence=token.fence,
            scope=given["scope"],
            removed=(),
            brought=(),
            rows=counts.rows,
            replaced=counts.replaced,
        )
        module._write(folder.own / "commits" / commit.file, asdict(commit))
        folder._refuse_stale = _always(None)(None)  # or it would take its own token for another's
        return original(folder, token, **given)

    return swap


def _sent_again(original: Any) -> Any:
    def found_abandoned(delivery: Any) -> Any:
        from dataclasses import replace

        return replace(original(delivery), state="pending")

    return found_abandoned


def _unexplained(_original: Any) -> Any:
    from contextlib import nullcontext

    return lambda _path: nullcontext()


def _records_nothing(_original: Any) -> Any:
    def record(*_given: Any) -> Any:
        from setpoint.effects.recording import EffectsResult

        return EffectsResult()

    return record


def _asked_once(_original: Any) -> Any:
    def begun(connections: Any, *statements: str) -> Any:
        session = connections.here()
        for statement in statements:
            session.execute(statement)
        return session

    return begun


def _unvalidated(_original: Any) -> Any:
    def write(target: Any, writing: Any) -> None:
        from pyspark.sql import functions as F

        from setpoint.engine.spark.iceberg import carried

        writer = writing.frame.writeTo(target.table.sql)
        for name, value in carried(writing).items():
            writer = writer.option(f"snapshot-property.{name}", value)
        writer.overwrite(F.expr(writing.scope) if writing.scope else F.lit(True))

    return write


def _in_two_steps(original: Any) -> Any:
    def write(target: Any, writing: Any) -> None:
        from dataclasses import replace

        where = f" WHERE {writing.scope}" if writing.scope else ""
        target.spark.sql(f"DELETE FROM {target.table.sql}{where}")
        time.sleep(GAP_SECONDS)
        original(target, replace(writing, state=target.state()))

    return write


def _killed(_original: Any) -> Any:
    def terminate(_owner: int, number: int, _frame: Any) -> None:
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    return terminate


SWITCHES = {
    "death": Switch(
        off="a dead process is told from a silent one",
        module="setpoint.ledger.holder",
        name="is_gone",
        instead=_always(False),
    ),
    "staging": Switch(
        off="files are written aside",
        module="setpoint.engine.swap",
        name="SwapFolder.stage",
        instead=_in_place,
    ),
    "token": Switch(
        off="the token is part of the commit, not before it",
        module="setpoint.engine.swap",
        name="SwapFolder.swap",
        instead=_token_first,
    ),
    "reconciliation": Switch(
        off="a dead attempt's commit is looked for",
        module="setpoint.running.runner",
        name="Runner._committed",
        instead=_always(None),
    ),
    "history": Switch(
        off="a commit is looked for in the table's history",
        module="setpoint.engine.spark.reconciliation",
        name="adopted",
        instead=_always(None),
    ),
    "outbox": Switch(
        off="effects are recorded before the run is done",
        module="setpoint.effects.recording",
        name="EffectDesk.record",
        instead=_records_nothing,
    ),
    "doubt": Switch(
        off="an effect of which nobody knows is held",
        module="setpoint.model.delivery",
        name="found_abandoned",
        instead=_sent_again,
    ),
    "finishing": Switch(
        off="a swap that was decided is finished",
        module="setpoint.engine.swap",
        name="SwapFolder._finish",
        instead=_always(None),
    ),
    "validation": Switch(
        off="a commit is validated against what came since",
        module="setpoint.engine.spark.iceberg",
        name="IcebergTarget.write",
        instead=_unvalidated,
    ),
    "lookup": Switch(
        off="a commit whose answer was lost is looked up",
        module="setpoint.engine.spark.reconciliation",
        name="took_place",
        instead=_always(False),
    ),
    "words": Switch(
        off="SQLite's errors become the ledger's",
        module="setpoint.ledger.connection",
        name="explained",
        instead=_unexplained,
    ),
    "leases": Switch(
        off="a lease excludes others",
        module="setpoint.ledger.lease",
        name="in_the_way",
        instead=_always(()),
    ),
    "apart": Switch(
        off="windows apart from each other are told apart",
        module="setpoint.ledger.lease",
        name="overlap",
        instead=_always(True),
    ),
    "overlap": Switch(
        off="scopes that share a part exclude each other",
        module="setpoint.ledger.lease",
        name="overlap",
        instead=lambda _original: lambda one, other: one == other,
    ),
    "loss": Switch(
        off="a process learns that its lease was taken",
        module="setpoint.ledger.writer",
        name="_check_lease",
        instead=_whole_lease,
    ),
    "fence": Switch(
        off="the table refuses an attempt that was overtaken",
        module="setpoint.engine.swap",
        name="SwapFolder._refuse_stale",
        instead=_always(None),
    ),
    "patience": Switch(
        off="a renewal that failed is tried again",
        module="setpoint.running.lease_keeper",
        name="Held.renew",
        instead=_renewed_or_lost,
    ),
    "beats": Switch(
        off="beats decide that a lease is over, not clocks",
        module="setpoint.running.lease_watch",
        name="Watch.ended",
        instead=_by_the_clock,
    ),
    "clash": Switch(
        off="a backfill is refused that meets another",
        module="setpoint.ledger.backfill",
        name="_clash",
        instead=_always(None),
    ),
    "housekeeping": Switch(
        off="compaction is told from a stranger's write",
        module="setpoint.engine.spark.delta",
        name="HOUSEKEEPING",
        instead=lambda _original: (),
    ),
    "one commit": Switch(
        off="old rows go and new ones come in one commit",
        module="setpoint.engine.spark.iceberg",
        name="IcebergTarget.write",
        instead=_in_two_steps,
    ),
    "turns": Switch(
        off="a process waits for its turn at the ledger's file",
        module="setpoint.ledger.connection",
        name="BUSY_SECONDS",
        instead=lambda _original: 0.0,
    ),
    "release": Switch(
        off="a lease is given back when the run ends",
        module="setpoint.ledger.writer",
        name="StoredWriter.release",
        instead=_always(None),
    ),
    "signal": Switch(
        off="SIGTERM ends a command as Ctrl-C does",
        module="setpoint.cli.app",
        name="_terminate",
        instead=_killed,
    ),
    "reconnecting": Switch(
        off="a connection that the server cut is opened again",
        module="setpoint.ledger.postgres_connection",
        name="PostgresConnections._begun",
        instead=_asked_once,
    ),
    "count": Switch(
        off="the rows that arrived are counted",
        module="setpoint.engine.spark.postgres.target",
        name="check_count",
        instead=_always(None),
    ),
}
