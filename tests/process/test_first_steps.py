"""A newcomer's first commands, as real processes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.process.conftest import Shell

pytestmark = pytest.mark.process
FIELDS = [
    "task",
    "window_start",
    "window_end",
    "state",
    "attempts",
    "rows",
    "checksum",
    "run_id",
    "snapshot",
    "seconds",
    "error",
]


def test_init_run_status_history_explain_without_editing_anything(shell: Shell) -> None:
    """`setpoint init shop && cd shop && setpoint run` works in an empty folder."""
    started = shell("init", "shop")
    assert "next: cd shop && setpoint run" in started.stdout
    shell.folder /= "shop"

    run = shell("run", "--output", "json", "--checksum")
    assert run.stderr == ""
    runs = json.loads(run.stdout)["runs"]
    assert [entry["task"] for entry in runs] == ["sample_orders", "orders", "revenue_daily"]
    assert all(list(entry) == FIELDS for entry in runs)
    assert {entry["window_start"] for entry in runs} == {"2026-04-25T00:00:00Z"}
    assert all(entry["checksum"].startswith(f"ck1:{entry['rows']}:") for entry in runs)

    again = shell("run", "--ds", "2026-04-25")
    assert "succeeded  1,000 rows  replaced 1,000" in again.stdout
    assert "WARN" not in again.stdout + again.stderr

    status = json.loads(shell("status", "--output", "json").stdout)["runs"]
    assert {entry["state"] for entry in status} == {"succeeded"}
    assert all(list(entry) == FIELDS for entry in status)
    assert len(json.loads(shell("history", "--output", "json").stdout)["runs"]) == 6
    assert "revenue_daily" in shell("status").stdout
    assert "4 rows" not in shell("history", "orders").stdout

    explained = shell("explain", "revenue_daily").stdout
    assert "order_date >= DATE '2026-04-25' AND order_date < DATE '2026-04-26'" in explained
    assert "because: stated by the task" in explained
    assert "ledger" in shell("doctor", "--quick").stdout


def test_a_failing_task_exits_with_1_and_skips_what_depends_on_it(shell: Shell) -> None:
    """The error names the task, window and table, and what to do; the rest is skipped."""
    shell("init", "shop")
    shell.folder /= "shop"
    broken = shell.folder / "pipelines" / "orders.py"
    broken.write_text(broken.read_text().replace('"amount >= 0"', '"amount > 400"'))
    done = shell("run", code=1)
    assert "revenue_daily  2026-04-25  skipped  not run: orders did not succeed" in done.stdout
    for words in ("amount_is_positive", "2026-04-25", "lake.shop.orders", "order_id=", "next:"):
        assert words in done.stderr
    status = shell("status").stdout
    assert "failed" in status
    assert "next: setpoint history orders" in status


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run",), "no setpoint.toml"),
        (("status",), "no setpoint.toml"),
        (("explain", "x"), "no setpoint.toml"),
    ],
)
def test_outside_a_project_the_next_step_is_init(
    shell: Shell, arguments: tuple[str, ...], words: str
) -> None:
    """No traceback, a message and what to type."""
    done = shell(*arguments, code=1)
    assert words in done.stderr
    assert "next: setpoint init NAME" in done.stderr


def test_without_java_the_message_says_what_to_install(shell: Shell) -> None:
    """Nothing is recorded as a failure of a window."""
    shell("init", "shop")
    shell.folder /= "shop"
    done = shell("run", code=1, env={"JAVA_HOME": str(shell.folder / "nowhere")})
    assert "Java 17 or newer" in done.stderr
    assert json.loads(shell("status", "--output", "json").stdout)["runs"] == []
    doctor = shell("doctor", code=1, env={"JAVA_HOME": str(shell.folder / "nowhere")})
    assert "fault" in doctor.stdout
