from __future__ import annotations

from pathlib import Path

from tests.auditing.handmade import RULES as MADE_UP

from setpoint.auditing.docs import pages, write_pages
from setpoint.auditing.rules.registry import RULES

FOLDER = Path(__file__).parents[2] / "docs" / "rules"


def test_the_pages_of_the_rules_are_current() -> None:
    """`make docs` would change nothing."""
    written = {place.name: place.read_text(encoding="utf-8") for place in FOLDER.glob("*.md")}
    assert written == pages(RULES)


def test_a_page_tells_all_that_a_rule_says() -> None:
    """What, why, before, after and when to ignore are on the page, and it is linked."""
    made = pages(list(MADE_UP.values()))
    page = made["unguarded-append.md"]
    rule = MADE_UP["W01"]
    for words in (rule.what, rule.why, "INSERT OVERWRITE t", rule.ignore_when, "ignore[W01]"):
        assert words in page
    assert "```sql\nINSERT INTO t SELECT * FROM s;\n```" in page
    assert "(unguarded-append.md)" in made["README.md"]


def test_pages_of_rules_that_are_gone_are_removed(tmp_path: Path) -> None:
    """The folder holds the pages and nothing else."""
    (tmp_path / "old.md").write_text("")
    write_pages({"new.md": "x"}, tmp_path)
    assert [place.name for place in tmp_path.iterdir()] == ["new.md"]
