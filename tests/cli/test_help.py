"""The first thing a person sees."""

from __future__ import annotations

import subprocess
import sys


def test_help_lists_commands_without_importing_spark_or_rich() -> None:
    """`setpoint --help` shows every command and loads nothing heavy."""
    probe = (
        "import sys; sys.argv = ['setpoint', '--help']\n"
        "from setpoint.cli.app import main\n"
        "try: main()\n"
        "except SystemExit as stop: assert not stop.code\n"
        "heavy = {'pyspark', 'rich', 'sqlglot', 'yaml', 'sqlite3'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    shown = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=True
    ).stdout
    assert "audit" in shown
