from datetime import date

import click


@click.command()
@click.option("--day", default=str(date.today()))
def show(day):
    click.echo(f"figures of {day}")
