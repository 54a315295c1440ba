"""`setpoint backfill` and `setpoint cost` as typed: plans, flags and records, without Spark."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest

from setpoint.backfilling.progress import JobReport, Progress
from setpoint.cli.backfill_progress import Lines, LiveBar, progress_words
from setpoint.cli.backfill_words import size_text
from setpoint.ledger.backfill import Backfill, Job, TaskRange
from setpoint.ledger.instant import utc_now
from setpoint.ledger.record import Outcome
from setpoint.ledger.sqlite import SqliteLedger

if TYPE_CHECKING:
    from tests.cli.conftest import Shell

APRIL = datetime(2026, 4, 1, tzinfo=timezone.utc)
RANGE = ("--start", "2026-04-01", "--end", "2026-04-11")


@pytest.fixture
def shop(shell: Shell) -> Shell:
    """Two SQL tasks, the second of which reads the first; no pyspark anywhere."""
    shell.folder.write(
        "setpoint.toml",
        '[project]\nname = "shop"\n[pools.night]\nlimit = 2\n[cost]\nper_hour = 36\n'
        'currency = "EUR"\n',
    )
    shell.folder.sql("orders")
    shell.folder.sql("revenue", "sources: {orders: {table: lake.shop.orders, event_time: day}}")
    return shell


def ledger_of(shell: Shell) -> SqliteLedger:
    """The project's ledger."""
    (shell.folder.root / ".setpoint").mkdir(exist_ok=True)
    return SqliteLedger(shell.folder.root / ".setpoint" / "ledger.db")


def record(shell: Shell, *states: Any) -> None:
    """The first days of April, as they ended."""
    fingerprint = shell.folder.load().graph.task("orders").fingerprint
    with ledger_of(shell) as ledger:
        ledger.record_many(
            [
                Outcome(
                    task="orders",
                    window_start=APRIL + timedelta(days=n),
                    window_end=APRIL + timedelta(days=n + 1),
                    target="lake.shop.orders",
                    fingerprint=fingerprint,
                    state=state,
                    rows=100,
                    seconds=2.0,
                )
                for n, state in enumerate(states)
            ],
            pid=1,
            host="h",
        )


def planned(shell: Shell, *flags: str) -> Any:
    """The plan as JSON."""
    answer = shell.type("backfill", "orders", *RANGE, *flags, "--dry-run", "--output", "json")
    assert answer.code == 0, answer.err
    return json.loads(answer.out)


def test_the_plan_in_words(shop: Shell) -> None:
    """Windows, jobs, why, what is skipped, who reads it, and an estimate with its basis."""
    record(shop, "succeeded", "succeeded", "failed")
    out = shop.type("backfill", "orders", *RANGE, "--dry-run").out
    assert "orders: 8 windows, 2026-04-03 to 2026-04-10, in 1 job" in out
    assert "orders: 2 skipped (2026-04-01 to 2026-04-02): already done" in out
    assert "read by revenue, not set again here" in out
    assert "estimate: about 800 rows, 16.0 s of Spark time, 0.1600 EUR" in out
    assert "2 windows that ran before" in out


@pytest.mark.parametrize(
    ("flags", "windows"),
    [
        ([], 8),
        (["--reprocess-behavior", "none"], 7),
        (["--reprocess-behavior", "completed"], 10),
        (["--missing"], 7),
        (["--failed"], 1),
        (["--missing", "--failed"], 8),
    ],
)
def test_flags_that_choose_windows(shop: Shell, flags: list[str], windows: int) -> None:
    """Two done, one failed, seven never run."""
    record(shop, "succeeded", "succeeded", "failed")
    assert planned(shop, *flags)["windows"] == windows


def test_flags_that_shape_the_plan(shop: Shell) -> None:
    """Batches, direction, and the tasks up and down the graph."""
    plan = planned(shop, "--batch-size", "4", "--run-backwards")
    assert [batch["windows"] for batch in plan["tasks"][0]["batches"]] == [3, 3, 4]
    assert plan["backwards"] is True
    down = planned(shop, "--with-downstream", "--max-active-runs", "3", "--pool", "night")
    assert [each["task"] for each in down["tasks"]] == ["orders", "revenue"]
    words = ("backfill", "revenue", "--with-upstream", *RANGE, "--dry-run", "--output", "json")
    up = json.loads(shop.type(*words).out)
    assert [each["task"] for each in up["tasks"]] == ["orders", "revenue"]
    options_first = shop.type("backfill", *RANGE, "--dry-run", "orders")
    assert options_first.code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["orders"], "--start and --end are needed"),
        (["orders", *RANGE, "--pool", "day"], "no pool is called"),
        (["orders", *RANGE, "--tag", "x"], "not key=value"),
        (["orders", *RANGE, "--missing", "--reprocess-behavior", "none"], "exclude each other"),
        (["orders", *RANGE, "--shadow", "--stale"], "whole range aside"),
        (["nobody", *RANGE], "no task is called"),
        (["resume", "nothing"], "No backfill has an id"),
        (["orders", "--check"], "no window of orders has succeeded"),
    ],
)
def test_wrong_use_is_told_with_code_2(shop: Shell, words: list[str], said: str) -> None:
    """Before anything is started."""
    answer = shop.type("backfill", *words)
    assert answer.code == 2
    assert said in answer.err


def test_nothing_to_do_is_said_without_spark(shop: Shell) -> None:
    """All ten days are done: the command ends at once; tests/test_layers.py sees its imports."""
    record(shop, *["succeeded"] * 10)
    answer = shop.type("backfill", "orders", *RANGE)
    assert (answer.code, answer.err) == (0, "")
    assert "nothing to do" in answer.out
    assert "starting Spark" not in answer.out


def opened(shell: Shell, **changes: Any) -> None:
    """A backfill in the ledger, with a job that is done and one that runs."""
    given: dict[str, Any] = {
        "backfill_id": "abc123",
        "request_key": "k",
        "request": {"tasks": ["orders"], "start": "2026-04-01", "end": "2026-04-11", "only": []},
        "state": "running",
        "since": 1,
        "windows": 10,
        "requested_by": "finance",
        "reason": "a wrong price",
        "tags": {"quarter": "2026Q2"},
        "scopes": (TaskRange(task="orders", start=APRIL, end=APRIL + timedelta(days=10)),),
        "started_at": utc_now(),
        "seen_at": utc_now(),
        "pid": 1,
        "host": "h",
    }
    with ledger_of(shell) as ledger:
        ledger.backfills.open(Backfill(**{**given, **changes}))
        for number, state in enumerate(("succeeded", "running")):
            job = Job(
                job_id=f"j{number}",
                backfill_id="abc123",
                task="orders",
                window_start=APRIL,
                window_end=APRIL + timedelta(days=4),
                windows=4,
                fence=number + 2,
                state=state,  # type: ignore[arg-type]
                rows_written=400 if number == 0 else None,
                bytes_read=2048,
                bytes_written=1024,
                seconds=10.0 if number == 0 else None,
                started_at=utc_now(),
            )
            ledger.backfills.put_job(job)


def test_status_lists_backfills_and_shows_one_with_its_jobs(shop: Shell) -> None:
    """Who asked, why, how far it is; in words and as JSON."""
    assert "no backfill has run yet" in shop.type("backfill", "status").out
    opened(shop)
    assert "4 of 10" in shop.type("backfill", "status").out
    shown = shop.type("backfill", "status", "abc").out
    for words in ("running", "finance", "a wrong price", "quarter=2026Q2", "4 of 10 windows"):
        assert words in shown
    document = json.loads(shop.type("backfill", "status", "abc", "--output", "json").out)
    assert (document["done"], len(document["jobs"])) == (4, 2)
    listed = json.loads(shop.type("backfill", "status", "--output", "json").out)
    assert listed["backfills"][0]["backfill"] == "abc123"


def test_pause_and_cancel_are_heard_by_the_process_that_works_on_it(shop: Shell) -> None:
    """They change what the ledger says; once cancelled there is nothing to resume."""
    opened(shop)
    assert "pauses after its running jobs" in shop.type("backfill", "pause", "abc123").out
    assert "ends after its running jobs" in shop.type("backfill", "cancel", "abc").out
    with ledger_of(shop) as ledger:
        assert ledger.backfills.find("abc").wish == "cancel"
        ledger.backfills.end("abc123", "cancelled")
    answer = shop.type("backfill", "resume", "abc123")
    assert (answer.code, "nothing to go on with" in answer.err) == (2, True)
    answer = shop.type("backfill", "pause", "abc123")
    assert (answer.code, "has cancelled already" in answer.err) == (2, True)


@pytest.mark.parametrize("verb", ["diff", "publish", "discard"])
def test_a_backfill_that_was_not_written_aside_has_no_shadow(shop: Shell, verb: str) -> None:
    """And says how to write one."""
    opened(shop)
    answer = shop.type("backfill", verb, "abc123")
    assert (answer.code, "was not written aside" in answer.err) == (2, True)


def test_cost_by_tag_task_and_person(shop: Shell) -> None:
    """H4: at the price that setpoint.toml sets."""
    assert "no backfill has run yet" in shop.type("cost").out
    opened(shop)
    for by, name in (
        ("tag", "quarter=2026Q2"),
        ("task", "orders"),
        ("requested-by", "finance"),
    ):
        out = shop.type("cost", "--by", by).out
        assert name in out
        assert "0.1000 EUR" in out
    document = json.loads(shop.type("cost", "--output", "json").out)
    (found,) = document["usages"]
    assert (found["windows"], found["rows"], found["bytes_read"]) == (4, 400, 4096)


def test_progress_in_a_pipe_and_on_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """Lines for jobs and counts; the bar prints the same jobs above it."""
    moment = Progress(total=10, done=4, failed=1, running=2, seconds=2.0)
    assert progress_words(moment) == (
        "5 of 10 windows, 1 failed, 0 blocked, 2 running, 2.5/s, 2.0 s left"
    )
    report = JobReport(
        task="orders", label="2026-04-01", windows=4, state="succeeded", rows=8, seconds=1.0
    )
    lines = Lines()
    lines.reported(report)
    lines.progressed(moment)
    lines.progressed(moment)
    shown = capsys.readouterr().out
    assert "orders  2026-04-01  succeeded  4 windows  8 rows  1.0 s" in shown
    assert shown.count("5 of 10") == 1
    bar = LiveBar()
    bar.reported(report)
    bar.progressed(moment)
    bar.over()
    assert "orders" in capsys.readouterr().out
    assert [size_text(size) for size in (None, 12, 2048, 3 << 30, 5 << 40)] == [
        "",
        "12 B",
        "2.0 KiB",
        "3.0 GiB",
        "5.0 TiB",
    ]
