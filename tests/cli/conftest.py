"""The command as a person types it, in a project of the test's own."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from tests.project_folder import ProjectFolder

from setpoint.cli.app import main

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass(frozen=True)
class Answer:
    """What a command printed, and how it ended."""

    code: int
    out: str
    err: str


class Shell:
    """Types commands in a project's folder."""

    def __init__(
        self,
        folder: ProjectFolder,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        self.folder = folder
        self._patch = monkeypatch
        self._capsys = capsys

    def type(self, *words: str) -> Answer:
        """Run `setpoint` with these words; no traceback may ever be shown."""
        self._patch.chdir(self.folder.root)
        self._patch.setattr(sys, "argv", ["setpoint", *words])
        with pytest.raises(SystemExit) as stop:
            main()
        out, err = self._capsys.readouterr()
        assert "Traceback" not in out + err
        assert "a fault in Setpoint itself" not in err
        return Answer(int(stop.value.code or 0), out, err)


@pytest.fixture
def shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Shell]:
    """A shell in an empty project; what its commands import is forgotten afterwards."""
    path, modules = list(sys.path), set(sys.modules)
    yield Shell(ProjectFolder(tmp_path), monkeypatch, capsys)
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]
