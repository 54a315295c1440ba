"""`setpoint doctor`."""

from __future__ import annotations

from pathlib import Path

import click

from setpoint.cli.output import output_option, print_document, print_table, project_option


@click.command("doctor")
@click.option("--quick", is_flag=True, help="Do not start Spark.")
@output_option
@project_option
def command(quick: bool, output: str, project: str) -> None:
    """Check Python, Java, Spark, jars, the catalog and the ledger; say what to do about faults."""
    from setpoint.running.examination import examine

    findings = examine(
        Path(project), start_spark=not quick, say=lambda text: click.echo(text, err=True)
    )
    faults = [finding for finding in findings if finding.state == "fault"]
    if output == "json":
        documents = [
            {"name": f.name, "state": f.state, "found": f.found, "next_step": f.next_step}
            for f in findings
        ]
        print_document({"healthy": not faults, "checks": documents})
    else:
        rows = [[f.name, f.state, f.found] for f in findings]
        print_table(["check", "state", "found"], rows)
        for finding in findings:
            if finding.next_step:
                click.echo(f"next ({finding.name}): {finding.next_step}")
        if not faults:
            click.echo("all is well" if not quick else "all is well, as far as seen without Spark")
    if faults:
        raise SystemExit(1)
