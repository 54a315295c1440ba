"""Verifying tasks with effects: recorded on copies, sent to nobody, none added by a second run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.effects.receivers import HttpReceiver

from setpoint.ledger.opening import open_ledger
from setpoint.verifying.project_verification import verify_project

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.spark.conftest import Bench

    from setpoint.verifying.verdict import Finding

pytestmark = pytest.mark.spark
TOLD = """
@task(target="lake.shop.told", grain="day", write=overwrite(by="order_date"),
      sources={{"orders": Source("lake.raw.orders", event_time="ordered_at")}},
      effects=[http("told", url="${{HOOK}}/{{part}}", allow=["private", "http"], each="{each}")])
def told(orders):
    parts = orders.groupBy(F.to_date("ordered_at").alias("order_date"),
                           (F.hour("ordered_at") / 6).cast("int").alias("part"))
    return parts.agg(F.count("*").alias("orders"), F.expr("{more}").alias("mark"))
"""


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[HttpReceiver]:
    """A receiver whose address is in the environment."""
    receiver = HttpReceiver()
    monkeypatch.setenv("HOOK", receiver.url)
    yield receiver
    receiver.close()


def effects(shop: Bench, *checks: str) -> Finding:
    """What was found out about the effects of the task."""
    found = verify_project(shop.root, tasks=["told"], ds="2026-04-25", checks=(*checks, "effects"))
    (verdict,) = found
    assert verdict.error is None, verdict.error
    return next(each for each in verdict.findings if each.check == "effects")


def test_effects_of_a_sound_task_are_recorded_once_and_sent_to_nobody(
    shop: Bench, web: HttpReceiver
) -> None:
    """Runs that died and were tried again add none either; the project's outbox stays empty."""
    shop.python(TOLD.format(each="part", more="max(order_id)"), "told")
    finding = effects(shop, "two", "crash")
    assert finding.state == "passed", finding
    assert web.requests == []
    with open_ledger("sqlite:///.setpoint/ledger.db", root=shop.root, create=False) as ledger:
        assert ledger.outbox.tallies() == []


def test_an_effect_whose_key_is_another_each_time_is_caught(shop: Bench, web: HttpReceiver) -> None:
    """The second run would send it again: the outbox has never seen that key."""
    shop.python(TOLD.format(each="mark", more="uuid()"), "told")
    finding = effects(shop, "two")
    assert finding.state == "failed"
    assert "the second run sent again: effect told" in finding.found
    assert web.requests == []
