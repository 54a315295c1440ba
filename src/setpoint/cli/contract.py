"""`setpoint contract`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from setpoint.cli.output import print_document, project_option

if TYPE_CHECKING:
    from setpoint.ledger.protocol import LedgerReader
    from setpoint.model.contract import Contract
    from setpoint.model.task import Task


@click.command("contract")
@click.argument("task", required=False)
@click.option(
    "--output",
    type=click.Choice(["md", "html", "json"]),
    default="md",
    show_default=True,
    help="Markdown or HTML for people, JSON for programs.",
)
@click.option(
    "--into",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Write a file for each task there, instead of printing.",
)
@project_option
def command(task: str | None, output: str, into: Path | None, project: str) -> None:
    """Write what a task owns and promises: a page a task, or of one TASK.

    Table, key, window, late rows, gates, sources, consumers, effects and guarantees, all from the
    task itself. Starts no Spark.
    """
    from setpoint.ledger.opening import open_ledger
    from setpoint.model.contract import contract_of
    from setpoint.running.loading import open_project

    loaded = open_project(Path(project))
    graph = loaded.graph
    tasks = [graph.task(task)] if task is not None else graph.upstream_first()
    settings = loaded.settings
    with open_ledger(settings.ledger_url, root=settings.root, create=False) as ledger:
        contracts = [
            contract_of(found, graph, verified=_verified(ledger, found)) for found in tasks
        ]
    if into is None:
        _print(contracts, output)
        return
    into.mkdir(parents=True, exist_ok=True)
    for contract in contracts:
        path = into / f"{contract.task}.{output}"
        path.write_text(_text([contract], output), encoding="utf-8")
        click.echo(str(path))


def _verified(ledger: LedgerReader, task: Task) -> str | None:
    """The verdict on exactly this code, if there is one."""
    found = ledger.verifications.of(task.name, task.fingerprint)
    return (
        f"{found.words}, {found.at:%Y-%m-%d %H:%MZ}: {', '.join(found.checks)}" if found else None
    )


def _print(contracts: list[Contract], output: str) -> None:
    if output == "json":
        print_document({"contracts": [contract.document() for contract in contracts]})
    else:
        click.echo(_text(contracts, output), nl=False)


def _text(contracts: list[Contract], output: str) -> str:
    from setpoint.cli.contract_page import html_page, markdown

    if output == "json":
        import json

        return json.dumps(contracts[0].document(), indent=2, ensure_ascii=False) + "\n"
    return html_page(contracts) if output == "html" else markdown(contracts)
