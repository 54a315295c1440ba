"""Backfills as the ledger knows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from setpoint.backfilling.cost import GOOD, usage
from setpoint.cli.backfill_words import usage_text
from setpoint.cli.output import print_document, print_table
from setpoint.cli.words import count_text, moment_text, seconds_text, window_text
from setpoint.ledger.instant import utc_now
from setpoint.model.settings import CostSettings
from setpoint.running.result import iso

if TYPE_CHECKING:
    from setpoint.ledger.backfill import Backfill, Job
    from setpoint.ledger.protocol import LedgerReader


def state_word(backfill: Backfill) -> str:
    """Its state; one whose process fell silent does not run."""
    if backfill.state == "running" and not backfill.alive(utc_now()):
        return "stopped"
    return backfill.state


def show_backfills(ledger: LedgerReader, output: str) -> None:
    """The last backfills, newest first."""
    found = ledger.backfills.newest()
    if output == "json":
        print_document({"backfills": [_document(ledger, each) for each in found]})
        return
    if not found:
        click.echo("no backfill has run yet")
        click.echo("next: setpoint backfill TASK --start … --end …")
        return
    rows = []
    for each in found:
        jobs = ledger.backfills.jobs(each.backfill_id)
        rows.append(
            [
                each.backfill_id,
                ", ".join(str(name) for name in _names(each)),
                f"{each.request.get('start')} to {each.request.get('end')}",
                state_word(each),
                f"{_done(jobs):,} of {each.windows:,}",
                each.requested_by or "",
                moment_text(each.started_at),
            ]
        )
    print_table(["id", "tasks", "range", "state", "windows", "requested by", "begun"], rows)


def show_backfill(ledger: LedgerReader, backfill_id: str, output: str) -> None:
    """One backfill with its jobs."""
    found = ledger.backfills.find(backfill_id)
    jobs = ledger.backfills.jobs(found.backfill_id)
    if output == "json":
        print_document(_document(ledger, found))
        return
    click.echo(
        f"backfill {found.backfill_id}  {state_word(found)}  "
        f"{_done(jobs):,} of {found.windows:,} windows"
    )
    facts = {
        "tasks": ", ".join(str(name) for name in _names(found)),
        "range": f"{found.request.get('start')} to {found.request.get('end')}",
        "begun": moment_text(found.started_at),
        "last heard of": moment_text(found.seen_at),
        "requested by": found.requested_by or "",
        "reason": found.reason or "",
        "tags": ", ".join(f"{key}={value}" for key, value in found.tags.items()),
        "shadow": str(found.detail.get("shadow") or ""),
        "used": usage_text(usage("", jobs, CostSettings())),
    }
    for name, value in facts.items():
        if value:
            click.echo(f"  {name:<13}  {value}")
    print_table(
        ["task", "windows", "from", "state", "rows", "seconds", "error"],
        [
            [
                job.task,
                count_text(job.windows),
                _span_text(job),
                job.state,
                count_text(job.rows_written),
                seconds_text(job.seconds),
                job.error or "",
            ]
            for job in jobs
        ],
        right=["windows", "rows", "seconds"],
    )
    if found.state in ("running", "paused", "interrupted"):
        click.echo(f"next: setpoint backfill resume {found.backfill_id}")


def _document(ledger: LedgerReader, found: Backfill) -> dict[str, object]:
    jobs = ledger.backfills.jobs(found.backfill_id)
    return {
        "backfill": found.backfill_id,
        "state": state_word(found),
        "request": dict(found.request),
        "windows": found.windows,
        "done": _done(jobs),
        "requested_by": found.requested_by,
        "reason": found.reason,
        "tags": dict(found.tags),
        "shadow": found.detail.get("shadow"),
        "started_at": iso(found.started_at),
        "seen_at": iso(found.seen_at),
        "finished_at": iso(found.finished_at),
        "jobs": [
            {
                "job": job.job_id,
                "task": job.task,
                "window_start": iso(job.window_start),
                "window_end": iso(job.window_end),
                "windows": job.windows,
                "state": job.state,
                "rows": job.rows_written,
                "seconds": job.seconds,
                "error": job.error,
            }
            for job in jobs
        ],
    }


def _names(found: Backfill) -> list[object]:
    named = found.request.get("tasks")
    return list(named) if isinstance(named, list) else []


def _span_text(job: Job) -> str:
    if job.windows == 1 or job.window_start is None:
        return window_text(job.window_start, job.window_end)
    return f"{moment_text(job.window_start)} to {moment_text(job.window_end)}"


def _done(jobs: list[Job]) -> int:
    return sum(job.windows for job in jobs if job.state in GOOD)
