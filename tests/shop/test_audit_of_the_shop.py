"""The audit finds each bug that was planted in the shop."""

from __future__ import annotations

from pathlib import Path

import pytest

from setpoint.auditing.audit import SourceFile, audit_files
from setpoint.auditing.finding import Report, Severity

SHOP = Path(__file__).parents[2] / "examples" / "shop"
PLANTED = [
    # O1: each run adds files of its own
    ("orders_copy.py", "W01", "pq.write_to_dataset"),
    # O2: append, and three retries of it
    ("daily_customer_summary.sql", "W01", "INSERT INTO mart.daily_customer_summary"),
    ("nightly_dag.py", "S01", "retries"),
    # O3: the clock's window, append
    ("fct_payments.py", "T04", "datetime.now(timezone.utc)"),
    ("fct_payments.py", "W01", "INSERT INTO mart.fct_payments"),
    # O4: the feed repeats itself
    ("dim_customer.sql", "W05", "MERGE INTO mart.dim_customer"),
    # O5: the window slides, append
    ("daily_active_users.py", "T01", "F.current_timestamp()"),
    ("daily_active_users.py", "W01", 'write.mode("append")'),
    # O6: another key on each run, append, a post a run
    ("revenue_daily.py", "W01", "INSERT INTO mart.revenue_daily"),
    ("revenue_daily.py", "R02", "uuid.uuid4()"),
    ("revenue_daily.py", "X02", "requests.post"),
    # O7: all four
    ("daily_inventory_adjustments.py", "W01", "INSERT INTO mart.daily_inventory_adjustments"),
    ("daily_inventory_adjustments.py", "R03", "nextval('mart.txn_id')"),
    ("daily_inventory_adjustments.py", "W07", "UPDATE mart.stock"),
    ("daily_inventory_adjustments.py", "X01", "smtp.send_message"),
    # O8: a gap between delete and insert, and records sent again
    ("events_rewrite.py", "W02", "DELETE FROM mart.events"),
    ("event_publisher.py", "X03", "requests.post"),
]


def audited(folder: Path) -> Report:
    """The audit of a folder's own files."""
    paths = sorted(path for path in folder.rglob("*") if path.suffix in {".py", ".sql"})
    return audit_files(
        [SourceFile(path=str(path.relative_to(folder)), text=path.read_text()) for path in paths]
    )


@pytest.fixture(scope="module")
def before() -> Report:
    """The audit of the pipelines that break."""
    return audited(SHOP / "before")


@pytest.mark.parametrize(("file", "rule", "text"), PLANTED)
def test_a_planted_bug_is_found_where_it_stands(
    before: Report, file: str, rule: str, text: str
) -> None:
    """Each finding points at the line that holds the bug."""
    lines = (SHOP / "before" / file).read_text().splitlines()
    found = [one for one in before.findings if (one.path, one.rule) == (file, rule)]
    assert any(text in lines[one.line - 1] for one in found), before.findings


def test_nothing_but_the_planted_bugs_is_found(before: Report) -> None:
    """No false alarm, and every file could be read."""
    found = {(one.path, one.rule) for one in before.findings if one.severity is not Severity.NOTE}
    assert found == {(file, rule) for file, rule, _ in PLANTED}
    assert not before.unparsed


def test_the_shop_of_after_is_clean() -> None:
    """The same jobs as tasks of Setpoint: nothing to find, and every file could be read."""
    after = audited(SHOP / "after" / "pipelines")
    assert not after.findings
    assert not after.unparsed
