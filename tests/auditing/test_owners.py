from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from setpoint.auditing.owners import find_owners, parse_owners

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("*", "a/b.sql", True),
        ("*.sql", "a/b.sql", True),
        ("*.sql", "a/b.py", False),
        ("/build/logs/", "build/logs/x.sql", True),
        ("/build/logs/", "a/build/logs/x.sql", False),
        ("docs/*", "docs/a.sql", True),
        ("docs/*", "docs/sub/a.sql", False),
        ("apps/", "x/apps/y/a.sql", True),
        ("/docs/", "docs/sub/a.sql", True),
        ("**/logs", "a/b/logs/c.sql", True),
        ("**/logs", "logs/c.sql", True),
        ("a/**/z.sql", "a/z.sql", True),
        ("a/**/z.sql", "a/b/c/z.sql", True),
        ("a/**", "a/b/c/z.sql", True),
        ("models", "x/models/a.sql", True),
        ("models/marts", "models/marts/a.sql", True),
        ("models/marts", "x/models/marts/a.sql", False),
        ("a?.sql", "ab.sql", True),
        ("a?.sql", "a/.sql", False),
        ("a.sql", "axsql", False),
    ],
)
def test_patterns_match_as_on_github(pattern: str, path: str, *, matches: bool) -> None:
    """Anchors, folders, one star and two mean what GitHub's page says."""
    assert (parse_owners(f"{pattern} @x").of(path) == "@x") is matches


def test_the_last_line_that_matches_wins() -> None:
    """Later lines take precedence, and a line without owners means nobody."""
    owners = parse_owners(
        "* @all # everyone\n/jobs/ @jobs a@b.example\n/jobs/free/\n!x @no\n[a] @no"
    )
    assert owners.of("x.sql") == "@all"
    assert owners.of("jobs/x.sql") == "@jobs a@b.example"
    assert owners.of("jobs/free/x.sql") is None


def test_a_space_in_a_path_is_escaped() -> None:
    """A backslash keeps a space within the pattern."""
    assert parse_owners("my\\ jobs/ @x").of("my jobs/a.sql") == "@x"


def test_the_owners_of_the_repository_hold_in_its_folders(tmp_path: Path) -> None:
    """An audit of a folder looks up at the top of its repository."""
    (tmp_path / ".git").mkdir()
    (tmp_path / ".github").mkdir()
    (tmp_path / ".github" / "CODEOWNERS").write_text("/jobs/daily/ @daily\n")
    (tmp_path / "jobs" / "daily").mkdir(parents=True)
    assert find_owners(tmp_path / "jobs").of("daily/a.sql") == "@daily"
    assert find_owners(tmp_path / "jobs").of("a.sql") is None
