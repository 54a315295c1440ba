"""`setpoint effects`: what was sent to the outside world, what was not, and what nobody knows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from setpoint.cli.output import output_option, print_document, print_table, project_option
from setpoint.cli.words import moment_text, window_text

if TYPE_CHECKING:
    from setpoint.effects.transport import Functions
    from setpoint.ledger.outbox import Outbox
    from setpoint.ledger.protocol import Ledger
    from setpoint.model.delivery import Delivery, State

STATES = ["pending", "sending", "sent", "failed", "unknown", "skipped", "changed"]
SHOWN = 12


@click.group("effects")
def command() -> None:
    """E-mails, posts, calls and messages of tasks: each is sent once."""


@command.command("list")
@click.option("--state", type=click.Choice(STATES), help="Only these.")
@click.option("--task", metavar="TASK", help="Only of this task.")
@click.option(
    "--limit", type=click.IntRange(min=1), default=50, show_default=True, help="How many."
)
@output_option
@project_option
def list_effects(
    state: str | None, task: str | None, limit: int, output: str, project: str
) -> None:
    """List what was sent and what waits, newest first. Reads the ledger only."""
    from setpoint.cli.records import open_records

    with open_records(Path(project)) as ledger:
        if state == "skipped":
            _print_skips(ledger.outbox, task, output)
            return
        found = shown_deliveries(ledger.outbox, state=state, task=task, limit=limit)
    if output == "json":
        print_document({"effects": [document(each) for each in found]})
        return
    if not found:
        click.echo("no such effects" if state or task else "no effects were recorded yet")
        return
    rows = [
        [
            each.key[:SHOWN],
            each.task,
            window_text(each.window_start, each.window_end),
            each.effect,
            each.business_id,
            each.state + (", changed since" if each.changed is not None else ""),
            str(each.attempts),
            moment_text(each.sent_at or each.recorded_at),
            each.error or "",
        ]
        for each in found
    ]
    columns = ["key", "task", "window", "effect", "id", "state", "attempts", "at", "error"]
    print_table(columns, rows, right=["attempts"])
    for line in next_lines(found):
        click.echo(line)


@command.command("resolve")
@click.argument("key")
@click.option("--sent", "decision", flag_value="sent", help="It arrived: mark it sent.")
@click.option("--resend", "decision", flag_value="resend", help="Send it again, as it is now.")
@output_option
@project_option
def resolve(key: str, decision: str | None, output: str, project: str) -> None:
    """Decide about one effect: it arrived after all, or it is to be sent again."""
    from setpoint.errors import UsageError

    if decision is None:
        raise UsageError(
            "say what is to become of it",
            next_step=f"setpoint effects resolve {key} --sent, or --resend",
        )
    with _open(project) as ledger:
        from setpoint.effects.sender import is_alive
        from setpoint.ledger.outbox import Selection

        outbox = ledger.outbox
        found = outbox.find(key)
        outbox.sweep(Selection(key=found.key), alive=is_alive)
        after = outbox.resolve(found.key, decision=decision)  # type: ignore[arg-type]
        if decision == "resend":
            after = _send(project, ledger, key=after.key)[0][after.key]
    if output == "json":
        print_document({"effects": [document(after)]})
    else:
        click.echo(f"{after.effect} of {after.task}: {after.state}  {after.error or ''}".rstrip())
    if after.state in ("failed", "unknown"):
        raise SystemExit(1)


@command.command("send")
@click.option("--task", metavar="TASK", help="Only of this task.")
@click.option("--failed", is_flag=True, help="Also try those again that failed.")
@output_option
@project_option
def send(task: str | None, failed: bool, output: str, project: str) -> None:
    """Send what waits: recorded for this command, put off, or left by a process that died."""
    from setpoint.ledger.outbox import Selection

    with _open(project) as ledger:
        outbox = ledger.outbox
        if failed:
            outbox.renew(Selection(task=task, by_hand=True))
        waiting, _ = outbox.next_due(Selection(task=task, by_hand=True))
        ended, told = _send(project, ledger, task=task)
        left = shown_deliveries(outbox, state="unknown", task=task, limit=SHOWN)
    counts = told["counts"]
    if output == "json":
        print_document({"counts": counts, "not_tried": told["not_tried"]})
    else:
        told_counts = ", ".join(f"{count:,} {state}" for state, count in sorted(counts.items()))
        click.echo(told_counts or ("nothing could be sent" if waiting else "nothing to send"))
        for line in told["not_tried"]:
            click.echo(f"warning: {line}")
        for line in next_lines([*ended.values(), *left]):
            click.echo(line)
    if counts.get("failed") or counts.get("unknown") or told["not_tried"]:
        raise SystemExit(1)


def shown_deliveries(
    outbox: Outbox, *, state: str | None, task: str | None, limit: int
) -> list[Delivery]:
    """What a person sees: one whose sender died is unknown, though nobody has marked it yet."""
    from setpoint.effects.sender import is_alive
    from setpoint.ledger.outbox import Selection
    from setpoint.model.delivery import abandoned

    chosen = Selection(task=task, by_hand=True)
    asked: list[State | None] = [state] if state not in (None, "changed") else [None]  # type: ignore[list-item]
    asked += ["sending"] if state == "unknown" else []
    found = [
        each
        for one in asked
        for each in outbox.deliveries(
            state=one, chosen=chosen, limit=None if state == "changed" else limit
        )
    ]
    now = outbox.now()
    seen = [
        replace(each, state="unknown", error="its sender ended before it could say how it went")
        if abandoned(each, alive=is_alive(each.sender) if each.sender else False, now=now)
        else each
        for each in found
    ]
    if state == "changed":
        return [each for each in seen if each.changed is not None][:limit]
    return [each for each in seen if state in (None, each.state)][:limit]


def next_lines(found: list[Delivery]) -> list[str]:
    """The next command for what needs one."""
    lines: dict[str, str] = {}
    for each in found:
        key = each.key[:SHOWN]
        if each.state == "unknown" and not each.honours_key:
            lines.setdefault(
                "unknown",
                f"next: ask the receiver, then: setpoint effects resolve {key} --sent"
                " (or --resend)",
            )
        elif each.state in ("unknown", "pending"):
            lines.setdefault("pending", "next: setpoint effects send")
        elif each.state == "failed":
            lines.setdefault("failed", "next: setpoint effects send --failed")
        elif each.changed is not None:
            lines.setdefault("changed", f"next: setpoint effects resolve {key} --resend")
    return list(lines.values())


def document(each: Delivery) -> dict[str, Any]:
    """An effect as documented for `--output json`."""
    from setpoint.running.result import iso

    return {
        "key": each.key,
        "task": each.task,
        "window_start": iso(each.window_start),
        "window_end": iso(each.window_end),
        "effect": each.effect,
        "kind": each.kind,
        "business_id": each.business_id,
        "state": each.state,
        "changed_since": each.changed is not None,
        "attempts": each.attempts,
        "recorded_at": iso(each.recorded_at),
        "sent_at": iso(each.sent_at),
        "error": each.error,
        "status": each.status,
    }


def _print_skips(outbox: Outbox, task: str | None, output: str) -> None:
    from setpoint.running.result import iso

    skips = outbox.skips(task)
    if output == "json":
        named = [
            {
                "task": each.task,
                "window_start": iso(each.window_start),
                "window_end": iso(each.window_end),
                "effect": each.effect,
                "at": iso(each.at),
            }
            for each in skips
        ]
        print_document({"skipped": named})
        return
    rows = [
        [
            each.task,
            window_text(each.window_start, each.window_end),
            each.effect,
            moment_text(each.at),
        ]
        for each in skips
    ]
    print_table(["task", "window", "effect", "at"], rows)
    if skips:
        click.echo(f"next: setpoint run --select {skips[0].task} --effects send sends them")


def _open(project: str) -> Ledger:
    from setpoint.ledger.opening import open_ledger
    from setpoint.project.project import open_settings

    settings = open_settings(Path(project))
    return open_ledger(settings.ledger_url, root=settings.root, create=True)


def _send(
    project: str, ledger: Ledger, *, task: str | None = None, key: str | None = None
) -> tuple[dict[str, Delivery], dict[str, Any]]:
    """Send what waits. Task files are read only when a message needs one of their functions."""
    from setpoint.effects.sending import Dispatcher
    from setpoint.effects.transport import Transports, functions_of
    from setpoint.ledger.outbox import Selection

    outbox = ledger.outbox
    chosen = Selection(task=task, key=key, by_hand=True)

    def functions() -> Functions:
        from setpoint.running.loading import open_project

        return functions_of(open_project(Path(project)).graph.tasks.values())

    dispatcher = Dispatcher(
        outbox,
        transport=Transports(functions),
        say=lambda text: click.echo(text, err=True),
    )
    sent = dispatcher.send(chosen)
    ended = dict(sent.ended)
    if key is not None:
        ended = outbox.of_keys([key])
    return ended, {"counts": dict(sent.counts), "not_tried": list(dispatcher.waiting)}
