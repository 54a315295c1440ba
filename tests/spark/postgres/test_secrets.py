"""A password is nowhere but in memory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from click.testing import CliRunner

from setpoint.cli.app import setpoint
from setpoint.running.project_run import run_project

if TYPE_CHECKING:
    from tests.spark.postgres.conftest import Mart

pytestmark = pytest.mark.spark


def test_scenario_42_a_password_is_in_no_record_log_error_or_plan(
    shop: Mart, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Not in the ledger's file, logs, errors, plans, Spark's settings, nor any command line."""
    from setpoint.engine.spark.postgres import copying

    shop.sql(
        """
        /*
        target: lake.shop.totals
        grain: day
        write: {overwrite: {by: order_date}}
        sources:
          daily: {table: mart.public.daily, event_time: order_date}
        */
        SELECT order_date, sum(orders) AS orders FROM daily GROUP BY order_date
        """,
        "totals",
    )
    shown: list[str] = []
    for size in (copying.SMALL_BYTES, -1):
        monkeypatch.setattr(copying, "SMALL_BYTES", size)
        results = run_project(shop.root, ds="2026-04-25")
        assert [result.state for result in results] == ["succeeded"] * 2
    shop.pg("ALTER TABLE daily ADD CHECK (orders < 0) NOT VALID")
    failed = run_project(shop.root, ds="2026-04-26")[0]
    assert failed.error is not None
    shown += [failed.error.message, str(vars(failed.error))]
    explained = CliRunner().invoke(
        setpoint,
        ["explain", "totals", "--ds", "2026-04-25", "--analyze", "--project", str(shop.root)],
    )
    assert explained.exit_code == 0, explained.output
    shown.append(explained.output)
    view = shop.engine._target(results[0].step.task.target).reference()
    shop.spark.table(view).explain("extended")
    shown.append(str(dict(shop.spark.sparkContext.getConf().getAll())))
    shown += [row.value or "" for row in shop.spark.sql("SET -v").collect()]
    shown += [*capfd.readouterr(), repr(shop.engine._settings)]
    shown += [p.read_bytes().decode(errors="replace") for p in Path("/proc").glob("*/cmdline")]
    files = [path for path in shop.root.rglob("*") if path.is_file()]
    assert any(path.name == "ledger.db" for path in files)
    shown += [path.read_bytes().decode(errors="replace") for path in files]
    password = shop.server.password
    secrets = {password, quote(password), quote(password, safe=""), password.rpartition("/")[2]}
    for text in shown:
        for secret in secrets:
            assert secret not in text
