from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from tests.auditing.handmade import make_finding, make_outcome, sample

from setpoint.auditing.finding import Edit, Pipeline, Severity, Verdict
from setpoint.auditing.reports.document import json_text
from setpoint.auditing.reports.fleet_page import page_text
from setpoint.auditing.reports.markdown import markdown_text
from setpoint.auditing.reports.text import text_lines

HOSTILE = (
    "</script><script>alert(1)</script>\"'><img src=x onerror=alert(2)>\x1b[31m\u202e```\n# x @all"
)


def plain(outcome: object) -> str:
    """The text output without colours."""
    return "\n".join(line.plain for line in text_lines(outcome))  # type: ignore[arg-type]


def test_json_has_the_promised_shape() -> None:
    """Findings, pipelines and unparsed spots hold the promised keys."""
    found = json.loads(json_text(sample()))
    assert set(found["findings"][0]) >= {
        "rule", "severity", "path", "line", "end_line", "message", "fix", "pipeline",
    }  # fmt: skip
    assert found["findings"][0]["rule"] == "W01"
    assert found["findings"][0]["severity"] == "error"
    assert found["pipelines"][0] == {
        "name": "orders",
        "kind": "sql",
        "path": "sql/orders.sql",
        "line": 1,
        "verdict": "unsafe",
        "owner": "@shop/orders",
        "reads": ["raw.orders"],
        "writes": ["mart.orders"],
    }
    assert found["unparsed"] == [{"path": "sql/odd.sql", "line": 7, "reason": "unexpected token"}]


def test_text_groups_by_file_with_excerpt_reason_and_fix() -> None:
    """A reader sees where, what, why and how to mend it."""
    shown = plain(sample())
    block = shown[shown.index("sql/orders.sql  @shop/orders") :]
    assert "sql/orders.sql:2  error W01 unguarded-append  in orders" in block
    assert "2 │ INSERT INTO mart.orders" in block
    assert "A second run adds the rows of mart.orders again." in block
    assert "fix: Replace the day:" in block
    assert "sql/odd.sql:7  unexpected token" in shown


def test_text_ends_with_the_counts_and_the_next_step() -> None:
    """The summary counts pipelines and kinds, and its last line is a command."""
    shown = plain(sample())
    assert "1 safe, 1 unsafe, 1 unknown  (of 3 in 3 files)" in shown
    assert "2 errors, 1 warning" in shown
    assert re.search(r"by kind +1 T01 hidden-clock-in-filter", shown)
    assert shown.splitlines()[-1] == "next: setpoint audit --explain-rule T01"


@pytest.mark.parametrize(
    ("outcome", "step"),
    [
        (make_outcome(), "--output html --output-file fleet.html"),
        (make_outcome(make_finding(edits=(Edit(start=0, end=0, text=""),))), "audit . --diff"),
        (make_outcome(*[make_finding(line=n) for n in range(1, 40)]), "--write-baseline"),
        (replace(make_outcome(), gone=2), "--baseline FILE --write-baseline"),
    ],
)
def test_the_next_step_fits_what_was_found(outcome: object, step: str) -> None:
    """Clean, fixable, many and mended each lead somewhere else."""
    assert step in plain(outcome).splitlines()[-1]


def test_findings_in_the_baseline_are_counted_not_listed() -> None:
    """Known findings are mentioned as a number."""
    outcome = replace(make_outcome(), known=(make_finding(),))
    assert "none  (1 more in the baseline)" in plain(outcome)
    assert json.loads(json_text(outcome))["known"] == 1


class Tags(HTMLParser):
    """The tags and attribute names that a browser would see."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the tag."""
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}


def hostile() -> object:
    """A fleet in which every word is an attack."""
    finding = make_finding(
        path=HOSTILE, pipeline=HOSTILE, message=HOSTILE, fix=HOSTILE, line=1, rule="W01"
    )
    outcome = make_outcome(finding, replace(finding, pipeline="other"))
    pipeline = Pipeline(
        name=HOSTILE,
        kind=HOSTILE,
        path=HOSTILE,
        line=1,
        verdict=Verdict.UNSAFE,
        reads=(HOSTILE,),
        writes=(HOSTILE,),
        owner=HOSTILE,
    )
    report = replace(outcome.report, pipelines=(pipeline,))
    return replace(outcome, report=report, lines={HOSTILE: (HOSTILE,)})


def test_scenario_44_no_word_of_a_repository_becomes_markup_of_the_page() -> None:
    """Hostile names of tables, paths, owners and code add no tag and no attribute."""
    clean, attacked = Tags(), Tags()
    clean.feed(page_text(sample()))
    attacked.feed(page_text(hostile()))  # type: ignore[arg-type]
    assert attacked.tags.count("script") == 1
    assert set(attacked.tags) <= set(clean.tags)
    assert attacked.attributes <= clean.attributes


def test_the_page_loads_nothing_and_allows_only_its_own_script() -> None:
    """No address in it, no inline handler, and a policy that names the hashes of its two parts."""
    page = page_text(sample())
    assert not re.search(r"""https?://|src=|@import|url\(|\son\w+=|\sstyle=""", page)
    assert re.search(r"default-src 'none'; style-src 'sha256-\S+'; script-src 'sha256-\S+'", page)


def test_the_page_is_worst_first_and_filterable() -> None:
    """Unsafe stands before unknown before safe; each row says what filters need."""
    page = page_text(sample())
    assert re.findall(r'data-verdict="(\w+)"', page) == ["unsafe", "unknown", "safe"]
    assert 'data-rule="W01 T01"' in page
    assert 'data-owner="@shop/orders"' in page
    assert 'data-folder="jobs"' in page


def test_hostile_text_cannot_steer_a_terminal() -> None:
    """Escape sequences and reversed text are shown as replacement characters."""
    shown = plain(hostile())
    assert "\x1b" not in shown
    assert "\u202e" not in shown


def test_hostile_text_stays_text_in_markdown() -> None:
    """Nothing ends its code block, opens a tag or calls somebody by name."""
    shown = markdown_text(hostile())  # type: ignore[arg-type]
    outside = re.sub(r"(?ms)^(`{3,})\w*\n.*?^\1$", "", shown)
    assert "<script" not in outside
    assert "<img" not in outside
    assert "@all" not in outside
    assert "\n# x" not in outside


def test_markdown_is_cut_before_a_comment_would_be() -> None:
    """A thousand findings fit a comment; the rest is a number."""
    outcome = make_outcome(*[make_finding(line=n % 5 + 1) for n in range(1000)])
    shown = markdown_text(outcome)
    assert len(shown) < 65_536
    assert "… and 940 findings more." in shown
    assert shown.startswith("## 1 pipeline cannot be run twice")


def test_markdown_says_so_when_all_is_well() -> None:
    """A clean audit is one friendly line."""
    outcome = make_outcome()
    safe = replace(outcome.report, pipelines=outcome.report.pipelines[2:])
    shown = markdown_text(replace(outcome, report=safe))
    assert shown.startswith("## Nothing here is unsafe to run twice")


def test_fails_only_at_or_above_the_bar() -> None:
    """A warning does not fail a run that fails on errors; a note fails none."""
    warned = make_outcome(make_finding(severity=Severity.WARNING))
    noted = make_outcome(make_finding(severity=Severity.NOTE))
    assert not warned.fails("error")
    assert warned.fails("warning")
    assert not noted.fails("warning")
    assert sample().fails("error")
    assert not sample().fails("never")


def test_excerpts_are_lines_of_code_that_a_reader_can_take_in() -> None:
    """A notebook's line is shown as code and a line of thousands of characters is cut."""
    path = "a.ipynb"
    outcome = replace(
        make_outcome(), lines={path: ('    "df.write.mode(\\"append\\")\\n",', "x" * 5000, "{")}
    )
    shown = outcome.excerpt(make_finding(path=path, line=1, end_line=3))
    assert shown[0] == (1, 'df.write.mode("append")')
    assert len(shown[1][1]) < 250
    assert shown[2] == (3, "{")
