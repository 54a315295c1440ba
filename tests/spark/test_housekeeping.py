"""`setpoint clean` on real tables: what is dead goes, what a run could use stays."""

from __future__ import annotations

import os
import time
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

import pytest

from setpoint.engine.protocol import Token
from setpoint.engine.swap import SwapFolder
from setpoint.ledger.holder import this_process
from setpoint.model.table import TableName
from setpoint.project.project import load_project
from setpoint.running import cleaning
from setpoint.running.cleaning import Leftover, Limits, cleanable

if TYPE_CHECKING:
    from pathlib import Path

    from tests.spark.conftest import Bench

pytestmark = pytest.mark.spark
DAY = "2026-04-25"


@pytest.fixture
def kept(shop: Bench, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """The shop, whose ledger housekeeping reads too."""
    monkeypatch.setattr(cleaning, "open_ledger", lambda *_a, **_k: shop.ledger)
    return shop


def _found(bench: Bench, *, keep: int = 1, older: timedelta = timedelta()) -> list[Leftover]:
    limits = Limits(keep=keep, before=datetime.now(timezone.utc) - older)
    return list(cleanable(load_project(bench.root), bench.engine, limits))


def _snapshots(bench: Bench, table: str) -> list[int]:
    return [row[0] for row in bench.rows(f"SELECT snapshot_id FROM {table}.snapshots")]


def test_snapshots_that_no_run_refers_to_expire_and_replays_still_run(kept: Bench) -> None:
    """D6: with --keep 2 the last two runs can be replayed; the older one's snapshot is gone."""
    runs = [kept.ok(DAY)[0] for _ in range(4)]
    assert _found(kept, keep=2, older=timedelta(days=1)) == []
    (found,) = (each for each in _found(kept, keep=2) if each.kind == "snapshots")
    assert found.what.startswith("2, ")
    found.remove()
    assert [str(each) for each in _snapshots(kept, "lake.shop.orders")] == [
        runs[2].snapshot,
        runs[3].snapshot,
    ]
    assert kept.count("lake.shop.orders") == 144
    assert [each for each in _found(kept, keep=2) if each.kind == "snapshots"] == []


def test_a_table_with_a_run_under_way_is_left_alone(kept: Bench) -> None:
    """Its base snapshot, and files that it has not committed yet, are in use."""
    for _ in range(3):
        kept.ok(DAY)
    run = kept.ledger.latest("orders")[0]
    grant = kept.ledger.take(
        "orders", run.window_start, run.window_end,
        target=run.target, holder=this_process(), seconds=60,
    )  # fmt: skip
    assert _found(kept) == []
    assert grant.lease is not None
    kept.ledger.release(grant.lease)
    assert [each.kind for each in _found(kept)] == ["snapshots"]


def test_files_of_dead_attempts_are_removed(kept: Bench) -> None:
    """A file that no snapshot has, older than a day; the table's own stay."""
    kept.ok(DAY)
    (orders,) = (kept.root / "warehouse").rglob("shop/orders")
    orphan = orders / "data" / "orphan.parquet"
    orphan.write_text("half")
    past = time.time() - 3 * 24 * 3600
    os.utime(orphan, (past, past))
    (found,) = (e for e in _found(kept, older=timedelta(days=2)) if e.kind == "files")
    assert "orphan.parquet" in found.what
    found.remove()
    assert not orphan.exists()
    assert kept.count("lake.shop.orders") == 144


def test_shadow_tables_that_no_backfill_writes_to_are_dropped(kept: Bench) -> None:
    """Known to the ledger and old enough; a table that only looks like one stays."""
    kept.ok(DAY)
    for name in ("orders__shadow_old", "orders__shadow_foreign"):
        kept.table(f"lake.shop.{name}", "SELECT 1 AS id")
    shadow = "lake.shop.orders__shadow_old"
    grant = kept.ledger.take(
        "orders shadow", None, None, target=shadow, holder=this_process(), seconds=60
    )
    assert grant.lease is not None
    started = kept.ledger.begin(
        "orders shadow", None, None,
        target=shadow, fingerprint="f", pid=1, host="here", lease=grant.lease,
    )  # fmt: skip
    assert [each for each in _found(kept) if each.kind == "shadow table"] == []
    kept.ledger.succeed(started.run_id, started.fence, rows=1)
    kept.ledger.release(grant.lease)
    (found,) = (each for each in _found(kept) if each.kind == "shadow table")
    found.remove()
    assert not kept.exists("lake.shop.orders__shadow_old")
    assert kept.exists("lake.shop.orders__shadow_foreign")


TOML = '[catalogs.lake]\n[catalogs.hive]\ntype = "parquet"\nwarehouse = "hive"\n'
PARQUET = """
@task(target="hive.shop.daily", grain="day", write=overwrite(by="d"))
def daily(spark, window):
    return spark.sql(f"SELECT 1 AS id, DATE '{window.ds}' AS d")
"""


def test_rows_that_a_dead_attempt_staged_are_removed(kept: Bench) -> None:
    """Of a run that ended; what an open run or an unknown one has staged stays."""
    toml = kept.root / "setpoint.toml"
    toml.write_text(toml.read_text() + TOML)
    kept.engine = type(kept.engine)(load_project(kept.root).settings, say=lambda _text: None)
    kept.python(PARQUET)
    (done,) = kept.ok(DAY, select=("daily",))
    folder = SwapFolder(kept.root / "hive" / "shop" / "daily")
    dead = _staged(folder, str(done.run_id))
    alive = _staged(folder, "unknown")
    (found,) = (each for each in _found(kept) if each.kind == "staged rows")
    found.remove()
    assert (dead.exists(), alive.exists()) == (False, True)


def _staged(folder: SwapFolder, run_id: str) -> Path:
    staged = folder.stage(Token(run_id=run_id, fence=1))
    staged.mkdir(parents=True)
    return staged


def test_names_are_quoted_in_calls(kept: Bench) -> None:
    """A table with a quote in its name is listed, expired and read as it is called."""
    name = TableName(("lake", "shop", "it's `odd`"))
    kept.python(
        f"""
@task(target={name.sql!r}, write=replace())
def odd(spark):
    return spark.range(3)
"""
    )
    for _ in range(3):
        kept.ok(select=("odd",))
    (found,) = (each for each in _found(kept) if each.kind == "snapshots")
    found.remove()
    assert len(_snapshots(kept, name.sql)) == 1
