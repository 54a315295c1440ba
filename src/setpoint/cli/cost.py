"""`setpoint cost`."""

from __future__ import annotations

from pathlib import Path

import click

from setpoint.cli.output import output_option, print_document, print_table, project_option


@click.command("cost")
@click.option(
    "--by",
    type=click.Choice(["tag", "task", "requested-by"]),
    default="tag",
    show_default=True,
    help="What to add up by.",
)
@output_option
@project_option
def command(by: str, output: str, project: str) -> None:
    """Show what backfills have used: windows, rows, bytes, Spark time, money.

    The price of an hour is `per_hour` under [cost] in setpoint.toml.
    """
    from setpoint.backfilling.cost import usages
    from setpoint.cli.backfill_words import money_text, size_text
    from setpoint.cli.records import open_records
    from setpoint.cli.words import count_text, seconds_text
    from setpoint.project.project import open_settings

    settings = open_settings(Path(project))
    with open_records(Path(project)) as ledger:
        backfills = {each.backfill_id: each for each in ledger.backfills.newest(limit=1_000_000)}
        found = usages(by, ledger.backfills.jobs(), backfills, settings.cost)  # type: ignore[arg-type]
    if output == "json":
        print_document({"by": by, "usages": [each.document() for each in found]})
        return
    if not found:
        click.echo("no backfill has run yet")
        return
    columns = [by, "windows", "rows", "read", "written", "Spark time", "cost"]
    rows = [
        [
            each.name,
            count_text(each.windows),
            count_text(each.rows),
            size_text(each.bytes_read),
            size_text(each.bytes_written),
            seconds_text(each.seconds),
            "" if each.cost is None else money_text(each.cost, each.currency),
        ]
        for each in found
    ]
    print_table(columns, rows, right=columns[1:])
    if all(each.cost is None for each in found):
        click.echo("no price is set: per_hour under [cost] in setpoint.toml")
