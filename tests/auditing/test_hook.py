from __future__ import annotations

from pathlib import Path

import yaml

from setpoint.cli.app import COMMANDS

TOP = Path(__file__).parents[2]


def test_the_pre_commit_hook_calls_a_command_that_exists() -> None:
    """The hook's id stands in the docs, and its entry is a command of this package."""
    (hook,) = yaml.safe_load((TOP / ".pre-commit-hooks.yaml").read_text())
    program, command = hook["entry"].split()
    assert program == "setpoint"
    assert command in COMMANDS
    assert f"id: {hook['id']}" in (TOP / "docs" / "audit.md").read_text()
