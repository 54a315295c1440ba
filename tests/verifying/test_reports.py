"""The reports of a verification: text, JSON, JUnit XML and a page."""

from __future__ import annotations

import json
import re
from datetime import datetime, timezone
from xml.etree import ElementTree as ET

from setpoint.verifying.cause import Cause
from setpoint.verifying.difference import compare_table
from setpoint.verifying.reports.junit import junit_report
from setpoint.verifying.reports.page import page_report
from setpoint.verifying.reports.text import text_report
from setpoint.verifying.rows import Rows
from setpoint.verifying.verdict import Finding, Verdict, verdict_document

COLUMNS = ("id", "note")
HOSTILE = "</script><script>alert(1)</script>\x00"


def verdicts() -> list[Verdict]:
    """One that failed, with a hostile value, one that passed, one that could not run."""
    difference = compare_table(
        "orders", Rows.of(COLUMNS, [(1, HOSTILE)]), Rows.of(COLUMNS, [(1, "other")])
    )
    failed = Finding(
        check="two",
        state="failed",
        found="1 of 1 rows differ in note",
        difference=difference,
        cause=Cause(
            kind="clock", words="now in column note", fix="use :ds\nor not", where="t.py:3"
        ),
    )
    left = Finding(check="ten", state="left out", found="two runs already differ")
    at = datetime(2026, 4, 26, tzinfo=timezone.utc)
    return [
        Verdict(subject="orders", targets=("lake.a.b",), findings=(failed, left), at=at, runs=2),
        Verdict(
            subject="fine",
            targets=("lake.a.c",),
            findings=(Finding(check="two", state="passed", found="the same"),),
            fed_by=("orders",),
        ),
        Verdict(subject="cannot", targets=(), findings=(), error="no table", next_step="make it"),
    ]


def test_the_text_has_verdict_counter_example_cause_and_fix() -> None:
    """In the order in which a person asks."""
    lines = text_report(verdicts())
    assert lines[0] == "NOT IDEMPOTENT  orders"
    text = "\n".join(lines)
    assert re.search(r"- 1 +</script>", text)
    assert re.search(r"\+ 1 +other", text)
    assert "cause  t.py:3: now in column note" in text
    assert "fix    use :ds" in text
    assert "fed by orders" in text
    assert "NO VERDICT  cannot" in text
    assert lines[-1] == "0 of 3 tasks are idempotent"


def test_the_text_fits_a_narrow_terminal() -> None:
    """Lines go on below their own words, and what differs is shown before what does not."""
    names = ("customer", "region", "comment", "amount", "loaded_at")
    before = [(n, "north", "no comment at all", 10 * n, "2026-04-25 10:00") for n in range(3)]
    after = [(*row[:-1], "2026-04-26 10:00") for row in before]
    difference = compare_table("orders", Rows.of(names, before), Rows.of(names, after))
    finding = Finding(
        check="neighbours",
        state="failed",
        found="3 of 3 rows differ in loaded_at, and so do those of the window before this one",
        difference=difference,
        cause=Cause(kind="clock", words="the clock " * 9, fix="one two three " * 9 + "\n  code"),
    )
    verdict = Verdict(subject="load " * 15, targets=("lake.shop.orders",), findings=(finding,))
    lines = text_report([verdict], width=50)
    assert max(map(len, lines)) <= 50
    assert "  ✗ neighbours  3 of 3 rows differ in loaded_at," in lines
    assert "                and so do those of the window" in lines
    head = next(line for line in lines if line.split()[:1] == ["customer"])
    assert head.split() == ["customer", "region", "loaded_at"]
    assert "    orders (and 2 columns more)" in lines
    assert "             code" in lines
    whole = text_report([verdict])
    assert any("comment" in line for line in whole)
    assert len(whole) < len(lines), "in a pipe no line is broken"


def test_the_document_is_json_and_says_the_same() -> None:
    """For programs."""
    first = json.loads(json.dumps(verdict_document(verdicts()[0])))
    assert first["verdict"] == "not idempotent"
    check = first["checks"][0]
    assert check["cause"]["kind"] == "clock"
    assert check["difference"]["columns"] == ["note"]
    assert check["difference"]["samples"][0]["after"] == {"id": 1, "note": "other"}


def test_junit_is_xml_whatever_a_table_holds() -> None:
    """One suite a task, one case a check; a task that cannot run is an error."""
    root = ET.fromstring(junit_report(verdicts()))  # noqa: S314 — our own text
    suites = {suite.get("name"): suite for suite in root}
    assert suites["orders"].get("failures") == "1"
    assert suites["orders"].get("skipped") == "1"
    assert suites["cannot"].get("errors") == "1"
    failure = suites["orders"].find("testcase/failure")
    assert failure is not None
    assert "t.py:3" in (failure.text or "")


def test_the_page_loads_nothing_and_runs_nothing() -> None:
    """Whatever a table holds is text; no script, no address."""
    page = page_report(verdicts())
    assert "alert(1)" in page
    assert "<script" not in page
    assert "http://" not in page
    assert "https://" not in page
    assert "default-src 'none'" in page
    assert page.index("not idempotent") < page.index("Cause") < page.index("Checks")


def test_the_page_shows_the_worst_first_and_says_once_what_was_left_out() -> None:
    """A sound task that an unsound one feeds is not green; what to type next is there."""
    page = page_report(verdicts())
    cards = re.findall(r'class="card (\w+)">\n.*\n<h2>(\w+)</h2>', page)
    assert cards == [("bad", "orders"), ("none", "fine"), ("none", "cannot")]
    assert "Left out, two runs already differ: ten<" in page
    assert "<dt>Next</dt><dd>make it</dd>" in page
    assert '<dd class="code">use :ds\nor not</dd>' in page
