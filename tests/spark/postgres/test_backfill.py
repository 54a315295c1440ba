"""Backfills into Postgres: window by window, or aside and then in one transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from setpoint.backfilling.project_backfill import backfill_project
from setpoint.backfilling.publishing import open_shadow
from setpoint.backfilling.request import Request
from setpoint.project.project import load_project

if TYPE_CHECKING:
    from tests.spark.postgres.conftest import Mart

    from setpoint.backfilling.result import BackfillResult

pytestmark = pytest.mark.spark


def back_fill(mart: Mart, *, shadow: bool = False) -> BackfillResult:
    """The three days again."""
    request = Request(
        tasks=("daily",),
        start="2026-04-24",
        end="2026-04-27",
        reprocess="completed",
        shadow=shadow,
    )
    return backfill_project(
        load_project(mart.root), request, engine=lambda: mart.engine, ledger=mart.ledger
    )


def test_a_range_of_a_mart_is_published_in_one_transaction(shop: Mart) -> None:
    """H3: the old rows until then, the new ones after it, one commit in the database's record."""
    first = back_fill(shop)
    assert [(w.state, w.rows) for w in first.windows] == [("succeeded", 12)] * 3
    before = shop.pg("SELECT * FROM daily ORDER BY 1, 2")
    shop.spark.sql("UPDATE lake.raw.orders SET amount = amount + 1")
    result = back_fill(shop, shadow=True)
    assert result.state == "succeeded", result.failed
    assert shop.pg("SELECT * FROM daily ORDER BY 1, 2") == before
    shadow = open_shadow(
        result.backfill_id or "", shop.root, shop.ledger, lambda _t: None, engine=shop.engine
    )
    found = shadow.compare()["daily"]
    assert [w.changed for w in found.windows] == [12, 12, 12]
    (done,) = shadow.publish()
    assert (done.windows, done.rows, done.replaced) == (3, 36, 36)
    after = shop.pg("SELECT * FROM daily ORDER BY 1, 2")
    assert len(after) == 36
    assert all(new[3] > old[3] for new, old in zip(after, before, strict=True))
    commits = shop.pg("SELECT count(*) FROM setpoint.commits WHERE rows = 36")
    assert commits == [(1,)]
    assert shop.pg("SELECT to_regclass(%s)::text", f"daily__shadow_{result.backfill_id}") == [
        (None,)
    ]
