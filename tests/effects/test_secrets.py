"""A secret is nowhere but in the environment and on the wire."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.effects.receivers import Fault

if TYPE_CHECKING:
    from pathlib import Path

    import pytest
    from tests.effects.receivers import HttpReceiver

SECRET = "tok-93f1c0ffee"
PROGRAM = """
import logging, sys, time
logging.basicConfig(level=logging.DEBUG, filename="log.txt")
from setpoint import http, send_once, slack
options = {"ledger": "sqlite:///ledger.db", "folder": "."}
bearer = {"Authorization": "Bearer ${PARTNER_CREDENTIAL}"}
allow = ["private", "http"]
done = []
for name in ("refused", "broken", "sent"):
    effect = http(name, url=sys.argv[1] + "?k=${PARTNER_CREDENTIAL}", each="id", headers=bearer,
                  allow=allow, retries=0, timeout=5)
    done += send_once(effect, {"id": 1}, scope="partner", **options)
done += send_once(slack("posted", url="${PARTNER_HOOK}", text="hello", allow=allow),
                  {"id": 1}, scope="partner", **options)
print([(each.effect, each.state, each.error) for each in done], flush=True)
print("ready", flush=True)
sys.stdin.read()
"""


def test_scenario_42_a_secret_is_in_no_record_log_error_or_command_line(
    web: HttpReceiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not in the ledger's file, logs, errors, lists or `ps`, though the receiver repeats it."""
    monkeypatch.setenv("PARTNER_CREDENTIAL", SECRET)
    monkeypatch.setenv("PARTNER_HOOK", f"{web.url}/{SECRET}")
    echo = f"your token {SECRET} is no good"
    web.ahead = [Fault(status=401, body=echo), Fault(status=500, body=echo)]
    (tmp_path / "setpoint.toml").write_text('[ledger]\nurl = "sqlite:///ledger.db"\n')
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, web.url],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    said = process.stdout.readline() + process.stdout.readline()
    listed = subprocess.run(
        ["ps", "-ww", "-eo", "args"], capture_output=True, text=True, check=True
    ).stdout
    out, err = process.communicate("")
    assert process.returncode == 0, err
    assert "refused" in said
    assert "unknown" in said
    # The receiver did get it: what is searched below is not missing by mistake.
    assert web.requests[0][1]["Authorization"] == f"Bearer {SECRET}"
    assert web.requests[-1][0].endswith(SECRET)
    shown = [said, out, err, listed]
    for words in (["status"], ["effects", "list"], ["effects", "list", "--output", "json"]):
        done = subprocess.run(
            [sys.executable, "-m", "setpoint", *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert "Traceback" not in done.stderr
        shown += [done.stdout, done.stderr]
    assert "partner" in shown[-2]
    assert len(json.loads(shown[-2])["effects"]) == 4
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.name for path in files} >= {"ledger.db", "log.txt"}
    shown += [path.read_bytes().decode(errors="replace") for path in files]
    assert [text for text in shown if SECRET in text] == []


def test_a_secret_that_is_not_set_is_told_by_its_name(
    web: HttpReceiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error says which variable to set, and nothing was sent."""
    from setpoint.effects.outside import send_once
    from setpoint.model.receiver import http

    monkeypatch.delenv("NOT_SET_HERE", raising=False)
    effect = http("told", url=web.url, each="id", headers={"Authorization": "${NOT_SET_HERE}"},
                  allow=["private", "http"])  # fmt: skip
    ledger = "sqlite:///ledger.db"
    (made,) = send_once(effect, {"id": 1}, scope="partner", ledger=ledger, folder=tmp_path)
    assert made.state == "failed"
    assert "$NOT_SET_HERE" in (made.error or "")
    assert web.requests == []
