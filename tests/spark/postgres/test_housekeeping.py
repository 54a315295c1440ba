"""Doctor and clean on a real server: rights that are missing, staging that is left."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import TYPE_CHECKING

import pytest

from setpoint.engine.commit_mark import scope_name
from setpoint.engine.spark.housekeeping import staging_prefix_of
from setpoint.engine.spark.postgres.connection_check import connection_facts
from setpoint.errors import SetpointError
from setpoint.ledger.holder import this_process
from setpoint.model.settings import ConnectionSettings
from setpoint.model.table import TableName
from setpoint.project.project import load_project
from setpoint.running import cleaning
from setpoint.running.cleaning import Limits, cleanable
from setpoint.running.examination import examine

if TYPE_CHECKING:
    from tests.spark.postgres.conftest import Mart

pytestmark = pytest.mark.spark
DAY = "2026-04-25"


def test_the_rights_of_a_user_are_told(mart: Mart) -> None:
    """A user without rights gets the statement that grants them; with it, all is well."""
    user = f"u{mart.database}"
    mart.pg(f"CREATE ROLE {user} LOGIN PASSWORD 'weak'")
    url = mart.url.replace("postgres@", f"{user}@")
    settings = ConnectionSettings(name="mart", url=url, password="weak")
    fault = connection_facts(settings).fault()
    assert fault is not None
    assert "may not make the schema setpoint" in fault[0]
    mart.pg(fault[1])
    assert connection_facts(settings).fault() is None
    with pytest.raises(SetpointError, match="user and password"):
        connection_facts(ConnectionSettings(name="mart", url=url, password="wrong"))


def test_staging_tables_of_dead_attempts_are_found_and_dropped(
    shop: Mart, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By this ledger's own scopes and fences; a live attempt's, and other people's, stay."""
    monkeypatch.setattr(cleaning, "open_ledger", lambda *_a, **_k: shop.ledger)
    (done,) = shop.ok(DAY)
    prefix = staging_prefix_of(TableName.parse("mart.public.daily"), scope_name(done.step.window))
    window, target = done.step.window, "mart.public.daily"
    assert window is not None
    grant = shop.ledger.take(
        "daily", window.start, window.end, target=target, holder=this_process(), seconds=60
    )
    live = shop.ledger.begin(
        "daily", window.start, window.end, target=target,
        fingerprint=done.step.task.fingerprint, pid=1, host="here", lease=grant.lease,
    )  # fmt: skip
    dead, alive, foreign = f"{prefix}0", f"{prefix}{live.fence}", "s_foreign_0"
    for name in (dead, alive, foreign):
        shop.pg(f'CREATE TABLE setpoint_staging."{name}" (c0 int)')
    limits = Limits(keep=1, before=datetime.now(timezone.utc))
    found = list(cleanable(load_project(shop.root), shop.engine, limits))
    assert [(each.kind, each.what) for each in found] == [("staging table", dead)]
    found[0].remove()
    assert sorted(shop.staging()) == sorted([alive, foreign])


def test_doctor_looks_at_the_connection_and_at_what_was_left(
    shop: Mart, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Version, database and user of each connection; orphans as a warning with the command."""
    monkeypatch.setattr(cleaning, "open_ledger", lambda *_a, **_k: shop.ledger)
    (done,) = shop.ok(DAY)
    prefix = staging_prefix_of(TableName.parse("mart.public.daily"), scope_name(done.step.window))
    shop.pg(f'CREATE TABLE setpoint_staging."{prefix}0" (c0 int)')
    found = {f.name: f for f in examine(shop.root, start_spark=True, say=lambda _text: None)}
    assert found["connection mart"].state == "ok"
    assert shop.database in found["connection mart"].found
    assert found["left behind"].next_step == "setpoint clean lists them"
