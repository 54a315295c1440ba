from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from setpoint.auditing.walk import FOREIGN, IGNORED, LARGEST, LINKED, walk
from setpoint.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path


def put(root: Path, path: str, text: str = "SELECT 1;\n") -> Path:
    """Write a file with its folders."""
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
    return place


def paths(root: Path, *given: Path) -> list[str]:
    """What a walk finds."""
    return [file.path for file in walk(given or (root,), working=root).files]


def test_finds_the_kinds_of_files_that_hold_pipelines(tmp_path: Path) -> None:
    """SQL, Python and notebooks are found, in a stable order, with relative paths."""
    for name in ("b.sql", "a/x.py", "a/n.ipynb", "dbt_project.yml", "image.png", "A.SQL"):
        put(tmp_path, name)
    assert paths(tmp_path) == ["A.SQL", "a/n.ipynb", "a/x.py", "b.sql"]


def test_leaves_out_dependencies_and_build_results_and_says_how_many(tmp_path: Path) -> None:
    """Folders that hold other people's code are not entered, but counted."""
    put(tmp_path, "dbt_project.yml")
    for folder in ("node_modules", ".venv", "lib/site-packages", "target", "dbt_packages"):
        put(tmp_path, f"{folder}/x.sql")
    put(tmp_path, "env-of-mine/pyvenv.cfg")
    put(tmp_path, "env-of-mine/x.py")
    put(tmp_path, ".git/hooks.py")
    tree = walk((tmp_path,), working=tmp_path)
    assert not tree.files
    assert tree.skipped == {FOREIGN: 6}


def test_a_folder_named_target_is_read_outside_of_dbt_projects(tmp_path: Path) -> None:
    """Only dbt's own target folder is a build result."""
    put(tmp_path, "target/load.sql")
    assert paths(tmp_path) == ["target/load.sql"]


def test_obeys_ignore_files_as_git_does(tmp_path: Path) -> None:
    """Nested ignore files, negation, anchors and folders decide as in git."""
    put(tmp_path, ".git/HEAD")
    put(tmp_path, ".gitignore", "scratch/\n/top.sql\n*.tmp.sql\n[\n")
    put(tmp_path, "jobs/.gitignore", "*.py\n!keep.py\n")
    for name in ("scratch/a.sql", "top.sql", "jobs/top.sql", "x.tmp.sql", "jobs/a.py"):
        put(tmp_path, name)
    put(tmp_path, "jobs/keep.py")
    tree = walk((tmp_path,), working=tmp_path)
    assert [file.path for file in tree.files] == ["jobs/keep.py", "jobs/top.sql"]
    assert tree.skipped[IGNORED] == 4


def test_ignore_files_above_the_root_count_unless_they_ignore_the_root(tmp_path: Path) -> None:
    """A folder that was asked for by name is audited even where git ignores it."""
    put(tmp_path, ".git/HEAD")
    put(tmp_path, ".gitignore", "out/\n*.tmp.sql\n")
    put(tmp_path, "jobs/a.sql")
    put(tmp_path, "jobs/b.tmp.sql")
    put(tmp_path, "out/c.sql")
    assert paths(tmp_path, tmp_path / "jobs") == ["a.sql"]
    assert paths(tmp_path, tmp_path / "out") == ["c.sql"]


def test_never_follows_symbolic_links(tmp_path: Path) -> None:
    """Links, out of the root or within it, are counted and not followed."""
    root, outside = tmp_path / "root", tmp_path / "outside"
    put(root, "a.sql")
    put(outside, "secret.sql")
    (root / "linked").symlink_to(outside)
    (root / "link.sql").symlink_to(outside / "secret.sql")
    tree = walk((root,), working=tmp_path)
    assert [file.path for file in tree.files] == ["a.sql"]
    assert tree.skipped[LINKED] == 2


def test_huge_files_are_listed_not_read(tmp_path: Path) -> None:
    """A file over the limit is named among what could not be read; a notebook may be larger."""
    put(tmp_path, "dump.sql", "x" * (LARGEST + 1))
    put(tmp_path, "book.ipynb", "x" * (LARGEST + 1))
    tree = walk((tmp_path,), working=tmp_path)
    assert [file.path for file in tree.files] == ["book.ipynb"]
    assert [item.path for item in tree.unread] == ["dump.sql"]


def test_files_passed_by_a_hook_are_relative_to_the_working_folder(tmp_path: Path) -> None:
    """Several paths share the working folder as root, so that baselines of both uses agree."""
    first, second = put(tmp_path, "models/a.sql"), put(tmp_path, "jobs/b.py")
    assert paths(tmp_path, first) == ["models/a.sql"]
    assert paths(tmp_path, first, second, first) == ["jobs/b.py", "models/a.sql"]


def test_paths_outside_of_the_working_folder_share_the_folder_above_them(tmp_path: Path) -> None:
    """Where the working folder does not hold them, the nearest folder that does is the root."""
    first, second = put(tmp_path, "x/models/a.sql"), put(tmp_path, "x/jobs/b.py")
    working = tmp_path / "elsewhere"
    working.mkdir()
    found = walk((first, second), working=working)
    assert [file.path for file in found.files] == ["jobs/b.py", "models/a.sql"]


def test_a_file_of_another_kind_that_was_named_is_listed(tmp_path: Path) -> None:
    """Asking for a file that cannot be read is not answered with silence."""
    tree = walk((put(tmp_path, "job.scala"),), working=tmp_path)
    assert [item.path for item in tree.unread] == ["job.scala"]


def test_a_missing_path_is_a_wrong_use(tmp_path: Path) -> None:
    """The error names the path."""
    with pytest.raises(UsageError, match="nowhere"):
        walk((tmp_path / "nowhere",), working=tmp_path)


def test_settings_around_a_file_are_found_without_auditing_their_project(tmp_path: Path) -> None:
    """One model of a project, or one folder of it, is read with the project's settings."""
    for name in ("shop/dbt_project.yml", "shop/models/a.sql", "shop/models/b.sql", "x.yml"):
        put(tmp_path, name)

    def settings(path: str) -> list[str]:
        found = walk(
            (tmp_path / path,), working=tmp_path, is_setting=lambda name: name.endswith("ct.yml")
        )
        return [file.path for file in found.settings]

    assert settings("shop/models/a.sql") == ["shop/dbt_project.yml"]
    assert settings("shop/models") == ["dbt_project.yml"]
    assert settings("shop") == ["dbt_project.yml"]
    assert settings("x.yml") == []
