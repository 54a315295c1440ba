"""Capturing what one thread prints, while others print too."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import click

from setpoint.engine.spark.printing import printed

if TYPE_CHECKING:
    import pytest


def test_other_threads_print_where_they_should(capsys: pytest.CaptureFixture[str]) -> None:
    """The progress of a backfill is not swallowed by the plan that a job looks at."""

    def action() -> None:
        click.echo("of the plan")
        for say in (print, click.echo):
            other = threading.Thread(target=say, args=("of somebody else",))
            other.start()
            other.join()
        click.echo("and on")

    assert printed(action) == "of the plan\nand on\n"
    assert capsys.readouterr().out == "of somebody else\n" * 2


def test_output_is_given_back_when_the_action_fails(capsys: pytest.CaptureFixture[str]) -> None:
    """And the next one is not kept waiting."""

    def failing() -> None:
        raise ValueError

    for _ in range(2):
        try:
            printed(failing)
        except ValueError:
            click.echo("seen")
    assert capsys.readouterr().out == "seen\nseen\n"
