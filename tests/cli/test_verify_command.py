"""`setpoint verify` as it is typed, and where its verdicts are shown. No Spark is started."""

from __future__ import annotations

import json
import sys
from datetime import datetime, timezone
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner, Result
from tests.project_folder import ProjectFolder

from setpoint.cli.app import setpoint
from setpoint.errors import UsageError
from setpoint.ledger.opening import open_ledger
from setpoint.ledger.verification import Verification

if TYPE_CHECKING:
    from pathlib import Path

APPEND = """
import sqlite3, sys
with sqlite3.connect("shop.db") as db:
    db.execute("CREATE TABLE IF NOT EXISTS orders (day TEXT)")
    db.executemany("INSERT INTO orders VALUES (?)", [(sys.argv[1],)])
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a job that appends, to work in."""
    (tmp_path / "job.py").write_text(APPEND)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def verify(*words: str, job: str = "job.py {ds}") -> Result:
    """Verify the job."""
    command = f"{sys.executable} -S {job}"
    return CliRunner().invoke(setpoint, ["verify", "--command", command, *words])


def test_a_command_is_verified_into_every_kind_of_report(folder: Path) -> None:
    """Text, JSON, JUnit XML and a page agree; the exit code is 1; the target is as it was."""
    reports = ["--junit", "r.xml", "--html", "r.html"]
    shown = verify("--target", "shop.db", "--checks", "two,crash", "--kills", "0", *reports)
    assert shown.exit_code == 1
    assert "NOT IDEMPOTENT" in shown.stdout
    assert "job.py:5: a second run adds the same rows to orders again" in shown.stdout
    assert ET.parse(folder / "r.xml").getroot()[0].get("failures") == "2"  # noqa: S314
    assert "a second run adds" in (folder / "r.html").read_text(encoding="utf-8")
    again = verify("--target", "shop.db", "--checks", "two", "--output", "json")
    (verdict,) = json.loads(again.stdout)["verdicts"]
    assert verdict["checks"][0]["cause"]["kind"] == "append"
    assert not (folder / "shop.db").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["verify", "--target", "shop.db"], "--target goes with --command"),
        (["verify", "orders", "--command", "x"], "exclude each other"),
        (["verify", "--command", "true"], "No --target was given"),
        (["verify", "--command", "true", "--target", "nowhere"], "is nothing known"),
        (["verify", "--command", "true", "--target", "a.db", "--checks", "tow"], "no check 'tow'"),
        (["verify", "--command", "true", "--target", "a.db", "--ds", "today"], "is not a date"),
        (["verify", "--command", "'", "--target", "a.db"], "cannot be read"),
        (["verify", "--command", "no-such-program", "--target", "a.db"], "cannot be started"),
        (["verify", "--command", "true", "--record", "not a name"], "names no environment"),
        (
            ["verify", "--command", "true", "--target", "a.db", "--setup", "false"],
            "--setup failed",
        ),
        (
            ["verify", "--command", "true", "--target", "postgresql://u:secret@h/db"],
            "postgresql://u:…@h/db names no table",
        ),
    ],
)
@pytest.mark.usefixtures("folder")
def test_wrong_use_is_told_in_words(words: list[str], message: str) -> None:
    """With what to type instead, and without a password."""
    shown = CliRunner().invoke(setpoint, words)
    assert isinstance(shown.exception, UsageError)
    assert message in shown.exception.message
    assert "secret" not in shown.exception.message


@pytest.mark.usefixtures("folder")
def test_a_command_that_fails_by_itself_gets_no_verdict() -> None:
    """Its own words are shown."""
    shown = verify("--target", "shop.db", job="-c 'raise SystemExit(\"no such day\")'")
    assert shown.exit_code == 1
    assert "NO VERDICT" in shown.stdout
    assert "no such day" in shown.stdout


def test_status_and_contract_show_the_verdict_on_this_code(tmp_path: Path) -> None:
    """Verified on the code that ran, and not verified once the code is another."""
    project = ProjectFolder(tmp_path)
    project.sql("revenue")
    task = project.task("revenue")
    url = project.load().settings.ledger_url
    options = ["--project", str(tmp_path)]
    with open_ledger(url, root=tmp_path, create=True) as ledger:
        for number, code in enumerate(["older", task.fingerprint]):
            started = ledger.begin(
                "revenue", None, None, target="lake.a.b", fingerprint=code, pid=1, host="here"
            )
            ledger.succeed(started.run_id, started.fence, rows=1)
            shown = CliRunner().invoke(setpoint, ["status", *options]).stdout
            assert "not verified" in shown
            if not number:
                at = datetime(2026, 4, 26, tzinfo=timezone.utc)
                found = Verification(
                    task="revenue", fingerprint="older", idempotent=True, at=at, checks=("two",)
                )
                ledger.verifications.put(found)
                assert (
                    "verified on this code"
                    in CliRunner().invoke(setpoint, ["status", *options]).stdout
                )
        contract = CliRunner().invoke(setpoint, ["contract", *options]).stdout
        assert "not on this code" in contract
        ledger.verifications.put(
            Verification(
                task="revenue",
                fingerprint=task.fingerprint,
                idempotent=True,
                at=at,
                checks=("two",),
            )
        )
        contract = CliRunner().invoke(setpoint, ["contract", *options]).stdout
    assert "verified on this code, 2026-04-26 00:00Z: two" in contract
