"""The verdicts as JUnit XML, which every CI system shows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from setpoint.verifying.reports.text import failure_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from setpoint.verifying.verdict import Verdict

# Characters that XML cannot hold, however they are written.
FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_report(verdicts: Sequence[Verdict]) -> str:
    """One suite a task or command, one case a check."""
    suites = ET.Element("testsuites", name="setpoint verify")
    for verdict in verdicts:
        cases = verdict.findings
        suite = ET.SubElement(
            suites,
            "testsuite",
            name=_clean(verdict.subject),
            tests=str(len(cases) or 1),
            failures=str(len(verdict.failures)),
            errors=str(int(verdict.error is not None)),
            skipped=str(sum(found.state == "left out" for found in cases)),
            time=f"{verdict.seconds:.3f}",
        )
        if verdict.at is not None:
            suite.set("timestamp", verdict.at.strftime("%Y-%m-%dT%H:%M:%S"))
        if verdict.error is not None:
            case = _case(suite, verdict, "runs at all", 0.0)
            ET.SubElement(case, "error", message=_clean(verdict.error))
        for found in cases:
            case = _case(suite, verdict, found.check, found.seconds)
            if found.state == "failed":
                failure = ET.SubElement(case, "failure", message=_clean(found.found))
                failure.text = _clean("\n".join(failure_lines(found)))
            elif found.state == "left out":
                ET.SubElement(case, "skipped", message=_clean(found.found))
            else:
                ET.SubElement(case, "system-out").text = _clean(found.found)
    ET.indent(suites)
    return ET.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _case(suite: ET.Element, verdict: Verdict, name: str, seconds: float) -> ET.Element:
    subject = _clean(verdict.subject)
    return ET.SubElement(suite, "testcase", classname=subject, name=name, time=f"{seconds:.3f}")


def _clean(text: str) -> str:
    return FORBIDDEN.sub("\ufffd", text)
