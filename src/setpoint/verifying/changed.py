"""Which tasks have other code than at a commit of git."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from setpoint.errors import UsageError

if TYPE_CHECKING:
    from setpoint.project.project import Project

FINGERPRINTS = (
    "import json, sys\nfrom pathlib import Path\n"
    "from setpoint.project.project import load_project\n"
    "tasks = load_project(Path(sys.argv[1]), allow_unsafe_retry=True).graph.tasks.values()\n"
    "print(json.dumps({task.name: task.fingerprint for task in tasks}))"
)


def changed_tasks(project: Project, commit: str) -> set[str]:
    """The names of tasks that are new, or whose fingerprint was another at the commit."""
    root = project.settings.root
    top = Path(_git(root, "rev-parse", "--show-toplevel").decode().strip())
    inside = root.resolve().relative_to(top.resolve()).as_posix()
    # A name that begins with a dash would be an option of git's.
    known = _git(top, "rev-parse", "--verify", "--end-of-options", f"{commit}^{{commit}}")
    exact = known.decode().split()[-1]
    if not _git(top, "ls-tree", "-r", "--name-only", exact, "--", inside).strip():
        return set(project.graph.tasks)  # the whole project is new
    archive = _git(top, "archive", "--format=tar", exact, "--", inside)
    with tempfile.TemporaryDirectory(prefix="setpoint-verify-") as scratch:
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            # Since 3.10.12; before it git's own archive is taken as it is.
            tar.extraction_filter = getattr(tarfile, "data_filter", None)
            tar.extractall(scratch)  # noqa: S202 — from our own git
        before = _fingerprints(Path(scratch) / inside)
    now = {task.name: task.fingerprint for task in project.graph.tasks.values()}
    return {name for name, code in now.items() if before.get(name) != code}


def _fingerprints(folder: Path) -> dict[str, str]:
    """The fingerprints of a project as it was; none when it could not be loaded then."""
    # In a process of its own: modules of both versions would share their names here.
    done = subprocess.run(
        [sys.executable, "-c", FINGERPRINTS, str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        return {}
    found: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return found


def _git(folder: Path, *words: str) -> bytes:
    try:
        done = subprocess.run(["git", *words], cwd=folder, capture_output=True, check=False)
    except OSError:
        raise UsageError("git is not there", next_step="install git, or name the tasks") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines() or ["it failed"]
        raise UsageError(
            f"--changed-since: git says: {said[0]}",
            next_step="give a commit, branch or tag of this repository",
        )
    return done.stdout
