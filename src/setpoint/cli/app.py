"""The `setpoint` command. Each subcommand's module is imported only when it runs."""

from __future__ import annotations

import importlib
import os
import signal
import sys
from functools import partial
from typing import TYPE_CHECKING, NoReturn, cast

import click

from setpoint.errors import SetpointError
from setpoint.version import __version__

if TYPE_CHECKING:
    from types import FrameType

INTERRUPTED = 130
TERMINATED = 143

# name → (module of the command, the line that --help shows). Kept here so that --help imports
# none of the commands. Each module has a click command called `command`.
COMMANDS: dict[str, tuple[str, str]] = {
    "init": ("setpoint.cli.init", "Write a small project that runs as it is."),
    "run": ("setpoint.cli.run", "Run tasks for a window or a range of windows."),
    "status": ("setpoint.cli.status", "Show where each task stands."),
    "history": ("setpoint.cli.history", "List the runs of a task, with their attempts."),
    "effects": ("setpoint.cli.effects", "List, send and resolve what tasks send outside."),
    "explain": ("setpoint.cli.explain", "Show what a task is and what a run of it would do."),
    "contract": ("setpoint.cli.contract", "Write what a task owns and promises: a page a task."),
    "doctor": ("setpoint.cli.doctor", "Check Python, Java, Spark, jars, catalog and ledger."),
    "clean": ("setpoint.cli.clean", "Remove what dead attempts and old runs have left behind."),
    "audit": ("setpoint.cli.audit", "Find the pipelines of a repository that cannot be run twice."),
    "demo": ("setpoint.cli.demo", "Tell the incident that Setpoint is for, with real data."),
}


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one only to run it."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """The commands in the order in which a newcomer meets them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import the one command that was asked for."""
        if cmd_name not in COMMANDS:
            return None
        return cast("click.Command", importlib.import_module(COMMANDS[cmd_name][0]).command)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="setpoint")
def setpoint() -> None:
    """Data pipelines on Spark that are safe to run twice."""


class Terminated(KeyboardInterrupt):
    """Somebody sent SIGTERM: the same clean end as Ctrl-C, another exit code."""


def _terminate(owner: int, number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001
    if os.getpid() != owner:
        os._exit(TERMINATED)  # a forked reader of files has nothing to leave in order
    raise Terminated


def main() -> None:
    """Run the command line; errors become a message, a next step and an exit code."""
    signal.signal(signal.SIGTERM, partial(_terminate, os.getpid()))
    stream = sys.stdout
    try:
        code = setpoint.main(standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        code = 0
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (KeyboardInterrupt, click.Abort) as stop:
        click.echo("\nstopped; the next run goes on from here", err=True)
        # Click turns Ctrl-C into an abort of its own, and keeps what came as its cause.
        terminated = isinstance(stop, Terminated) or isinstance(stop.__cause__, Terminated)
        code = TERMINATED if terminated else INTERRUPTED
    except SetpointError as error:
        from setpoint.cli.failure import show_failure

        show_failure(error)
        code = error.exit_code
    except BrokenPipeError:
        # The reader of a pipe has gone (`setpoint history | head`): nothing left to say.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except SystemExit as stop:
        # Click may meet the end of a pipe first: it swaps the stream and calls that a failure.
        code = 0 if sys.stdout is not stream else stop.code
    except Exception:  # noqa: BLE001 — a fault of Setpoint itself; nobody wants its stack at night
        from setpoint.cli.failure import show_fault

        show_fault()
        code = 1
    sys.exit(code)
