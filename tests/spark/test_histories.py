"""A few random histories on the real engine; `make histories` runs thousands without it."""

from __future__ import annotations

import os
from random import Random
from typing import TYPE_CHECKING, Any, cast

import pytest

from setpoint.errors import LedgerError
from setpoint.ledger.lease import Holder
from setpoint.running import lease_keeper

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.spark.conftest import Bench

    from setpoint.ledger.memory import MemoryLedger

pytestmark = pytest.mark.spark
DAYS = ("2026-04-24", "2026-04-25")
STEPS = 8
HISTORIES = int(os.environ.get("SETPOINT_SPARK_HISTORIES", "1"))
RAW = "SELECT id, DATE '{day}' AS day, {version} AS version FROM range(5)"
TASK = """
@task(target="lake.shop.copy", grain="day", write=overwrite(by="day"), unique_key="id",
      sources={"raw": Source("lake.raw.rows", event_time="day")})
def copy(raw):
    return raw
"""


class Died(BaseException):
    """The process is no more."""


class Mortal:
    """The ledger as a process reaches it that dies before it can record its commit."""

    def __init__(self, ledger: MemoryLedger) -> None:
        self.ledger = ledger
        self.dead = False

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Pass the call on, until death."""

        def reached(*given: Any, **options: Any) -> Any:
            if self.dead:
                raise LedgerError("nobody is there to ask")
            if name == "succeed":
                self.dead = True
                raise Died
            return getattr(self.ledger, name)(*given, **options)

        return reached


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_a_history_ends_as_clean_runs_would(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Run, die after the commit, change the source, write from elsewhere, in any order."""
    chance, ledger = Random(seed), bench.ledger
    dead: set[Holder] = set()
    versions = dict.fromkeys(DAYS, 0)
    queries = " UNION ALL ".join(RAW.format(day=day, version=0) for day in DAYS)
    bench.table("lake.raw.rows", queries, "day")
    bench.python(TASK)
    bench.ok(start=DAYS[0], end="2026-04-26")
    monkeypatch.setattr(lease_keeper, "is_gone", dead.__contains__)
    for number in range(STEPS):
        holder = Holder(pid=number, host="h", machine="m", born=str(number))
        monkeypatch.setattr(lease_keeper, "this_process", lambda held=holder: held)
        day = chance.choice(DAYS)
        what = chance.choice(["run", "die", "die", "source", "stranger"])
        if what == "run":
            bench.ok(day)
            (found,) = bench.rows(
                f"SELECT DISTINCT version FROM lake.shop.copy WHERE day = '{day}'"
            )
            assert found == (versions[day],)
        elif what == "die":
            bench.ledger = cast("MemoryLedger", Mortal(ledger))
            with pytest.raises(Died):
                bench.run(day)
            dead.add(holder)
            bench.ledger = ledger
        elif what == "source":
            versions[day] += 1
            bench.spark.sql(f"DELETE FROM lake.raw.rows WHERE day = DATE '{day}'")
            row = RAW.format(day=day, version=versions[day])
            bench.spark.sql(f"INSERT INTO lake.raw.rows {row}")
        else:
            bench.spark.sql(f"INSERT INTO lake.shop.copy SELECT 99, DATE '{day}', -1")
    bench.ok(start=DAYS[0], end="2026-04-26")
    rows = "SELECT id, CAST(day AS STRING), version FROM {} ORDER BY day, id"
    assert bench.rows(rows.format("lake.shop.copy")) == bench.rows(rows.format("lake.raw.rows"))
    assert ledger.leases() == []
    assert {run.state for run in ledger.latest()} == {"succeeded"}
