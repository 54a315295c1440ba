"""`run --dry-run`, `init`, `status` and `history`: what they print, for people and programs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

import pytest

from setpoint.cli.demo import typed_name
from setpoint.cli.output import fitting
from setpoint.cli.words import window_text
from setpoint.ledger.sqlite import SqliteLedger

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Shell

DAY = datetime(2026, 4, 25, tzinfo=timezone.utc)


@pytest.fixture
def two_tasks(shell: Shell) -> Shell:
    """A daily task and one that reads it."""
    shell.folder.python()
    shell.folder.sql("revenue", "sources: {orders: {table: lake.shop.orders, event_time: day}}")
    shell.folder.write(
        "setpoint.toml", '[project]\nname = "shop"\ndevelopment_date = "2026-04-25"\n'
    )
    return shell


def test_a_dry_run_shows_the_steps_and_stops(two_tasks: Shell) -> None:
    """Upstream first, with the pattern and target of each; the date that was used is said."""
    answer = two_tasks.type("run", "--dry-run")
    assert answer.code == 0
    assert answer.out.splitlines() == [
        "no date given: using the development date 2026-04-25",
        "task     window      pattern    target",
        "orders   2026-04-25  overwrite  lake.shop.orders",
        "revenue  2026-04-25  overwrite  lake.shop.revenue",
    ]
    assert not (two_tasks.folder.root / ".setpoint").exists()
    assert not (two_tasks.folder.root / "warehouse").exists()


def test_a_dry_run_speaks_json(two_tasks: Shell) -> None:
    """The same plan as data, edges in UTC, and the range half-open."""
    answer = two_tasks.type(
        *("run", "--dry-run", "--output", "json", "--select", "orders"),
        *("--start", "2026-04-01", "--end", "2026-04-03"),
    )
    assert json.loads(answer.out) == {
        "steps": [
            {
                "task": "orders",
                "window_start": f"2026-04-0{day}T00:00:00Z",
                "window_end": f"2026-04-0{day + 1}T00:00:00Z",
                "target": "lake.shop.orders",
                "pattern": "overwrite",
            }
            for day in (1, 2)
        ],
        "notes": [],
    }


def test_a_dry_run_works_from_inside_the_project(two_tasks: Shell) -> None:
    """`--project` takes the folder, or one inside it."""
    answer = two_tasks.type("run", "--dry-run", "--project", "pipelines", "--ds", "2026-01-01")
    assert "2026-01-01" in answer.out


def test_init_writes_a_project_and_says_what_to_type(shell: Shell) -> None:
    """Each file is named; the project's name is the folder's."""
    (shell.folder.root / "setpoint.toml").unlink()
    answer = shell.type("init", "shop")
    assert answer.code == 0
    assert "wrote shop/setpoint.toml" in answer.out
    assert answer.out.endswith("next: cd shop && setpoint run\n")
    assert 'name = "shop"' in (shell.folder.root / "shop" / "setpoint.toml").read_text()
    assert (shell.folder.root / "shop" / ".gitignore").is_file()


def test_status_and_history_of_a_project_that_never_ran(shell: Shell) -> None:
    """Nothing has run, and nothing is made by looking."""
    for command in ("status", "history"):
        answer = shell.type(command)
        assert answer.out == "nothing has run yet\nnext: setpoint run\n"
        assert json.loads(shell.type(command, "--output", "json").out)["runs"] == []
    assert not (shell.folder.root / ".setpoint").exists()


@pytest.fixture
def ran(shell: Shell) -> Shell:
    """A project in which one day succeeded at the second attempt and the next one failed."""
    (shell.folder.root / ".setpoint").mkdir()
    with SqliteLedger(shell.folder.root / ".setpoint" / "ledger.db") as ledger:
        for day in (0, 1):
            start = DAY + timedelta(days=day)
            started = ledger.begin(
                "orders",
                start,
                start + timedelta(days=1),
                target="lake.shop.orders",
                fingerprint="c0ffee00c0ffee00",
                pid=1,
                host="here",
                run_id=f"{day}" * 16,
            )
            if day == 0:
                started = ledger.retry(
                    started.run_id, started.fence, error="away", error_kind="Transient"
                )
                ledger.succeed(
                    started.run_id, started.fence, rows=250_000, snapshot="77", seconds=65.4
                )
            else:
                ledger.fail(started.run_id, started.fence, error="boom", error_kind="GateFailed")
    return shell


def test_status_tells_where_each_window_stands(ran: Shell) -> None:
    """A summary by task, the latest run of each window, and where to look next."""
    answer = ran.type("status")
    assert answer.code == 0
    summary, windows = answer.out.split("\n\n")
    assert summary.splitlines()[1].split()[:5] == ["orders", "2", "1", "1", "0"]
    lines = windows.splitlines()
    assert lines[1].split()[:4] == ["orders", "2026-04-26", "failed", "1"]
    assert lines[1].endswith("boom")
    assert lines[2].split()[:5] == ["orders", "2026-04-25", "succeeded", "2", "250,000"]
    assert lines[-1] == "next: setpoint history orders"
    assert "no such windows" in ran.type("status", "unknown").out


def test_status_speaks_json_in_the_documented_fields(ran: Shell) -> None:
    """The fields and their order are promised to programs."""
    (failed,) = json.loads(ran.type("status", "--output", "json", "--state", "failed").out)["runs"]
    assert failed == {
        "task": "orders",
        "window_start": "2026-04-26T00:00:00Z",
        "window_end": "2026-04-27T00:00:00Z",
        "state": "failed",
        "attempts": 1,
        "rows": None,
        "checksum": None,
        "run_id": "1" * 16,
        "snapshot": None,
        "seconds": None,
        "error": "boom",
    }


def test_history_tells_each_run_and_each_try(ran: Shell) -> None:
    """Newest first: state, attempts, rows, time, snapshot, code and error."""
    answer = ran.type("history", "orders")
    assert [line.split()[3:5] for line in answer.out.splitlines()[1:]] == [
        ["2026-04-26", "failed"],
        ["2026-04-25", "succeeded"],
    ]
    assert "1 min 05 s" in answer.out
    assert "c0ffee00" in answer.out
    assert ran.type("history", "unknown").out.startswith("no runs of unknown")
    document = json.loads(ran.type("history", "--limit", "2", "--output", "json").out)
    (first, second) = document["runs"][1]["tries"]
    assert (first["state"], first["error"], first["error_kind"]) == ("failed", "away", "Transient")
    assert (second["number"], second["state"]) == (2, "succeeded")
    assert document["runs"][1]["fingerprint"] == "c0ffee00c0ffee00"


def test_explaining_a_sql_task_runs_no_code_of_the_project(shell: Shell) -> None:
    """A Python file beside it, which writes a marker when imported, stays unread (scenario 43)."""
    marker = shell.folder.root / "touched"
    shell.folder.write("pipelines/evil.py", f"open({str(marker)!r}, 'w').close()\n")
    shell.folder.sql("daily")
    answer = shell.type("explain", "daily", "--ds", "2026-04-25")
    assert answer.code == 0
    assert "(tasks in Python are not looked at here)" in answer.out
    assert shell.type("status").code == 0
    assert shell.type("history").code == 0
    assert not marker.exists()


def test_explaining_for_an_empty_date_is_refused(shell: Shell) -> None:
    """`--ds "$DS"` with the variable unset must not explain the development date, as in `run`."""
    shell.folder.sql("daily", 'development_date: "2026-04-25"')
    answer = shell.type("explain", "daily", "--ds", "")
    assert answer.code == 2
    assert "'' is not a date" in answer.err


def test_a_narrow_terminal_shows_fewer_columns_and_no_word_cut_in_two() -> None:
    """At 80 columns the history leaves out what is looked up least; the text column stays."""
    columns = ["started", "task", "state", "snapshot", "code", "error"]
    rows = [["2026-11-15 13:07:54Z", "revenue_daily", "succeeded", "4" * 19, "0928c184", ""]]
    spare = ["snapshot", "code"]
    assert fitting(columns, rows, width=140, spare=spare) == columns
    assert fitting(columns, rows, width=80, spare=spare) == [
        "started", "task", "state", "code", "error",
    ]  # fmt: skip
    assert fitting(columns, rows, width=40, spare=spare) == ["started", "task", "state", "error"]
    assert fitting(columns, [], width=80, spare=spare) == columns


def test_a_reader_that_has_gone_is_no_failure(shell: Shell) -> None:
    """`setpoint history | head -1` under `set -o pipefail` succeeds."""
    shell.folder.sql("daily")
    command = [sys.executable, "-m", "setpoint", "history", "--project", str(shell.folder.root)]
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("start", "hours", "words"),
    [
        (DAY, 24, "2026-04-25"),
        (DAY, 1, "2026-04-25T00:00Z"),
        (DAY, 6, "2026-04-25T00:00Z/2026-04-25T06:00Z"),
        (DAY - timedelta(hours=2), 24, "2026-04-24T22:00Z/2026-04-25T22:00Z"),
    ],
)
def test_a_window_of_another_zone_is_not_taken_for_an_hour(
    start: datetime, hours: int, words: str
) -> None:
    """The ledger knows no zones: a day of Paris is shown with both its edges in UTC."""
    assert window_text(start, start + timedelta(hours=hours)) == words


def test_the_next_step_can_be_typed_where_the_command_is_not_on_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`make demo` runs the command of its own environment, which the shell does not know."""
    monkeypatch.setattr(sys, "argv", [".venv/bin/setpoint", "demo"])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert typed_name() == str(tmp_path / ".venv" / "bin" / "setpoint")
    (tmp_path / "setpoint").touch(mode=0o755)
    assert typed_name() == "setpoint"
