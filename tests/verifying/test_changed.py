"""Which tasks have other code than at a commit."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest
from tests.project_folder import ProjectFolder

from setpoint.errors import UsageError
from setpoint.verifying.changed import changed_tasks

if TYPE_CHECKING:
    from pathlib import Path


def git(folder: Path, *words: str) -> None:
    """Git, as nobody in particular."""
    who = ["-c", "user.name=t", "-c", "user.email=t@t.example"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


@pytest.mark.parametrize("place", [".", "etl"])
def test_only_tasks_with_other_code_have_changed(tmp_path: Path, place: str) -> None:
    """A comment is no change, another SELECT is one, a new task is one; a bad name is told."""
    (tmp_path / place).mkdir(exist_ok=True)
    (tmp_path / "README").write_text("a repository")
    git(tmp_path, "init")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "nothing yet")
    project = ProjectFolder(tmp_path / place)
    project.sql("orders")
    project.sql("revenue")
    assert changed_tasks(project.load(), "HEAD") == {"orders", "revenue"}
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "two tasks")
    assert changed_tasks(project.load(), "HEAD") == set()
    project.sql("orders", select="SELECT 1 AS day -- a comment")
    assert changed_tasks(project.load(), "HEAD") == set()
    project.sql("orders", select="SELECT 2 AS day")
    project.sql("customers")
    assert changed_tasks(project.load(), "HEAD") == {"orders", "customers"}
    for wrong in ("nowhere", "--output=x"):
        with pytest.raises(UsageError, match="git says"):
            changed_tasks(project.load(), wrong)


def test_outside_of_git_it_is_told(tmp_path: Path) -> None:
    """With git's own words."""
    project = ProjectFolder(tmp_path)
    project.sql("orders")
    with pytest.raises(UsageError, match="git says"):
        changed_tasks(project.load(), "HEAD")
