"""Run each scenario's test without the mechanism that it tests, and see it fail.

    python -m tests.mechanisms.prove            all of them
    python -m tests.mechanisms.prove 14 22      those of some scenarios

A proof holds when the switch was thrown in the test's processes and the test failed by itself: not
one that could not be set up, not one that was not found, not one that never ended.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from xml.etree import ElementTree as ET

from tests.mechanisms.proofs import PROOFS, Proof
from tests.mechanisms.switches import SWITCHES

TESTS = Path(__file__).parent.parent
START = Path(__file__).parent / "start"
PATIENCE = 300
WIDTH = 110
FAILED = 1
"""What pytest ends with when tests were run and some failed."""


def main() -> int:
    """Prove what the arguments name; a line each."""
    asked = {int(number) for number in sys.argv[1:]}
    chosen = [proof for proof in PROOFS if not asked or proof.scenario in asked]
    began = time.monotonic()
    width = max(len(SWITCHES[proof.switch].off) for proof in chosen)
    _say(f"{'scenario':8}  {'switched off':{width}}  seen to fail  test")
    missing = 0
    for proof in chosen:
        failed, words = proved(proof)
        missing += not failed
        off = SWITCHES[proof.switch].off
        _say(f"{proof.scenario:8}  {off:{width}}  {'yes' if failed else 'NO':12}  {proof.test}")
        _say(f"{'':8}  {'':{width}}  {'':12}  {words}")
    seen = len({proof.scenario for proof in chosen})
    seconds = round(time.monotonic() - began)
    _say(f"{seen} scenarios, {len(chosen)} tests, {missing} not seen to fail, {seconds} s")
    return int(missing > 0)


def proved(proof: Proof) -> tuple[bool, str]:
    """Whether the test failed without its mechanism, and with which words."""
    with tempfile.TemporaryDirectory(prefix="setpoint-mechanisms-") as folder:
        report, switched = Path(folder) / "report.xml", Path(folder) / "switched"
        before = os.environ.get("PYTHONPATH", "")
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, [str(START), before])),
            "SETPOINT_WITHOUT": proof.switch,
            "SETPOINT_SWITCHED": str(switched),
        }
        command = [sys.executable, "-m", "pytest", "-q", "--all", f"--junitxml={report}"]
        command += ["-p", "no:cacheprovider", str(TESTS / proof.test)]
        try:
            done = subprocess.run(
                command,
                cwd=TESTS.parent,
                env=environment,
                capture_output=True,
                text=True,
                timeout=PATIENCE,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return False, f"it did not end within {PATIENCE} s"
        if not switched.exists():
            return False, f"nothing was switched: {(done.stdout + done.stderr)[-WIDTH:]}"
        if done.returncode != FAILED:
            return False, f"pytest ended with {done.returncode}: {done.stdout[-WIDTH:]}"
        failures = ET.parse(report).getroot().findall(".//failure")  # noqa: S314 — our own file
        if not failures:
            return False, f"it could not be set up: {done.stdout[-WIDTH:]}"
        return True, failures[0].get("message", "").splitlines()[0][:WIDTH]


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201 — this is what it is for


if __name__ == "__main__":
    sys.exit(main())
