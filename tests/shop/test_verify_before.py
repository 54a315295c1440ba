"""`verify` on the jobs of before/, as they are: each is told what is wrong with it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from examples.shop import event_stream
from tests.shop.conftest import BEFORE, DAY, SIZE

from setpoint.verifying.blackbox.verification import verify_command

if TYPE_CHECKING:
    from tests.shop.conftest import Shop

    from setpoint.verifying.verdict import Verdict

pytestmark = pytest.mark.process


def verdict_on(
    shop: Shop,
    patch: pytest.MonkeyPatch,
    line: str,
    *tables: str,
    checks: tuple[str, ...] = ("two", "crash", "readers"),
    record: tuple[str, ...] = (),
    ds: str = DAY,
) -> Verdict:
    """Verify a job of before/ on the tables that it writes."""
    for name, value in shop.environment.items():
        patch.setenv(name, value)
    targets = [f"{shop.url}#mart.{table}" if "/" not in table else table for table in tables]
    return verify_command(
        f"{sys.executable} {line}",
        targets=targets,
        ds=ds,
        checks=checks,
        record=record,
        kills=0,
        folder=BEFORE,
    )


def causes(verdict: Verdict) -> set[str]:
    """The kinds of cause that were named."""
    return {found.cause.kind for found in verdict.failures if found.cause}


@pytest.mark.parametrize(
    ("line", "table", "cause", "place"),
    [
        ("run_sql.py daily_customer_summary.sql {ds}", "daily_customer_summary", "append", ".sql:"),
        ("revenue_daily.py {ds}", "revenue_daily", "append", "revenue_daily.py:"),
        (
            "daily_inventory_adjustments.py {ds}",
            "daily_inventory_adjustments",
            "append",
            "adjustments.py:",
        ),
        ("daily_inventory_adjustments.py {ds}", "stock", "counter", "adjustments.py:"),
    ],
)
def test_jobs_that_add_are_told_so(  # noqa: PLR0917
    shop: Shop, monkeypatch: pytest.MonkeyPatch, line: str, table: str, cause: str, place: str
) -> None:
    """Rows, keys and stock: with the line that does it; and the table is as before."""
    shop.sql("CREATE SCHEMA IF NOT EXISTS mart")
    verdict = verdict_on(shop, monkeypatch, line, table, checks=("two",))
    assert not verdict.idempotent
    assert cause in causes(verdict), verdict.failures
    assert any(place in (found.cause.where or "") for found in verdict.failures if found.cause)
    assert shop.sql("SELECT 1 FROM pg_tables WHERE schemaname IN ('mart', 'setpoint_verify')") in (
        [],
        [(1,)],  # the other table of the same job, which was not named as a target
    )


def test_the_copy_in_batches_is_caught_by_killing_it(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A retry adds to what the dead attempt left."""
    lake = str(shop.lake / "orders")
    verdict = verdict_on(shop, monkeypatch, "orders_copy.py {ds}", lake, checks=("two", "crash"))
    failed = {found.check: found for found in verdict.failures}
    assert set(failed) == {"two", "crash"}
    assert "append" in causes(verdict)
    assert not (shop.lake / "orders").exists()


def test_the_dimension_fails_when_it_runs_again(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change that came twice makes the MERGE stop at its second run: the key is to blame."""
    verdict = verdict_on(
        shop,
        monkeypatch,
        "run_sql.py dim_customer.sql {ds}",
        "dim_customer",
        checks=("two",),
        ds=str(SIZE.first_day),
    )
    assert "second time" in verdict.failures[0].found
    assert causes(verdict) == {"key"}


def test_the_events_are_gone_for_a_moment(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two runs agree; killed or read between delete and insert, the day is empty."""
    verdict = verdict_on(shop, monkeypatch, "events_rewrite.py {ds}", "events")
    assert [found.check for found in verdict.failures] == ["readers"]
    assert causes(verdict) == {"torn write"}


def test_the_payments_are_those_of_the_clock(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """The job takes no date, and loads another day when the clock says another."""
    verdict = verdict_on(
        shop, monkeypatch, "fct_payments.py", "fct_payments", checks=("two", "month", "clock")
    )
    assert "clock" in causes(verdict)
    assert "the command takes no date: it cannot be backfilled" in verdict.notes


def test_mails_and_posts_are_recorded_not_sent(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second run sends again; the real receivers hear nothing."""
    for line, record in (
        ("event_publisher.py {ds}", "BROKER_URL"),
        ("daily_inventory_adjustments.py {ds}", "SMTP_HOST:SMTP_PORT"),
        ("revenue_daily.py {ds}", "SLACK_WEBHOOK_URL"),
    ):
        verdict = verdict_on(shop, monkeypatch, line, checks=("effects",), record=(record,))
        assert [found.check for found in verdict.failures] == ["effects"], line
        assert causes(verdict) == {"effect"}
    assert shop.receivers.posts == []
    assert shop.receivers.mails == []


def test_the_active_users_are_those_of_the_clock(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Spark job whose clock cannot be moved from outside: it appends, and its text is read."""
    event_stream.land(shop.lake, SIZE)
    lake = str(shop.lake / "daily_active_users")
    verdict = verdict_on(
        shop, monkeypatch, "daily_active_users.py {ds}", lake, checks=("text", "two", "clock")
    )
    assert {"append"} <= causes(verdict)
    assert any(
        "daily_active_users.py:" in (f.cause.where or "") for f in verdict.failures if f.cause
    )
