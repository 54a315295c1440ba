from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest
from tests.auditing.handmade import make_finding

from setpoint.auditing.finding import Edit
from setpoint.auditing.fixing import FileMoved, diff_text, plan_patches, write_patches

if TYPE_CHECKING:
    from pathlib import Path

TEXT = "INSERT INTO t\r\nSELECT NOW();"


def edit(old: str, new: str, text: str = TEXT) -> Edit:
    """Replace a word of the text."""
    start = text.index(old)
    return Edit(start=start, end=start + len(old), text=new)


def test_edits_of_several_findings_are_applied_together() -> None:
    """Offsets stay right although earlier edits change the length."""
    findings = [
        make_finding(path="a.sql", edits=(edit("NOW()", ":window_start"),)),
        make_finding("T01", path="a.sql", edits=(edit("INTO", "OVERWRITE"),)),
    ]
    (patch,) = plan_patches(findings, {"a.sql": TEXT})
    assert patch.after == "INSERT OVERWRITE t\r\nSELECT :window_start;"
    assert len(patch.fixed) == 2


def test_edits_in_the_way_of_one_another_are_left_for_the_next_run() -> None:
    """Of two overlapping fixes one is applied; two insertions at one spot have no order."""
    overlapping = [
        make_finding(path="a.sql", edits=(edit("SELECT NOW()", "SELECT 1"),)),
        make_finding("T01", path="a.sql", edits=(edit("NOW()", "2"),)),
    ]
    (patch,) = plan_patches(overlapping, {"a.sql": TEXT})
    assert (patch.after, len(patch.left)) == ("INSERT INTO t\r\nSELECT 1;", 1)
    at = Edit(start=0, end=0, text="BEGIN;")
    twice = [
        make_finding(path="a.sql", edits=(at,)),
        make_finding(path="a.sql", edits=(Edit(start=0, end=0, text="X;"),)),
    ]
    (patch,) = plan_patches(twice, {"a.sql": TEXT})
    assert len(patch.fixed) == len(patch.left) == 1


def test_the_same_edit_of_two_findings_is_applied_once() -> None:
    """Both findings are fixed by it."""
    same = (edit("NOW()", "1"),)
    findings = [
        make_finding(path="a.sql", edits=same),
        make_finding("T01", path="a.sql", edits=same),
    ]
    (patch,) = plan_patches(findings, {"a.sql": TEXT})
    assert patch.after.count("1") == 1
    assert len(patch.fixed) == 2


def test_a_fix_that_would_break_the_file_is_not_made() -> None:
    """Python that parsed must parse afterwards, a notebook must stay JSON."""
    for path, text in (("a.py", "x = now()\n"), ("a.ipynb", '{"x": "now()"}')):
        broken = make_finding(path=path, edits=(edit("now()", '"(', text),))
        assert plan_patches([broken], {path: text}) == ()


def test_what_stands_in_a_string_is_not_mended() -> None:
    """A comment inside of a string is somebody's text, even where the rest would still parse."""
    text = 'SQL = """\n-- setpoint: ignore[W01] x\nSELECT 1"""\n# setpoint: ignore[W01] y\n'
    inside = make_finding(path="a.py", edits=(edit("-- setpoint: ignore[W01] x\n", "", text),))
    outside = make_finding(path="a.py", edits=(edit("# setpoint: ignore[W01] y\n", "", text),))
    assert plan_patches([inside], {"a.py": text}) == ()
    (patch,) = plan_patches([inside, outside], {"a.py": text})
    assert patch.fixed == (outside,)


def test_offsets_outside_of_the_file_are_refused() -> None:
    """An edit that does not fit the text is not applied."""
    wild = make_finding(path="a.sql", edits=(Edit(start=5, end=900, text=""),))
    assert plan_patches([wild], {"a.sql": TEXT}) == ()


def test_writing_keeps_encoding_line_ends_and_mode(tmp_path: Path) -> None:
    """Only the edited text differs in the bytes of the file."""
    place = tmp_path / "a.sql"
    place.write_bytes(b"\xef\xbb\xbf" + TEXT.encode())
    place.chmod(0o640)
    findings = [make_finding(path="a.sql", edits=(edit("NOW()", "'é'"),))]
    write_patches(plan_patches(findings, {"a.sql": TEXT}), tmp_path)
    assert place.read_bytes() == b"\xef\xbb\xbf" + TEXT.replace("NOW()", "'é'").encode()
    assert place.stat().st_mode & 0o777 == 0o640
    assert [item.name for item in tmp_path.iterdir()] == ["a.sql"]


def test_a_file_that_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    """Offsets of an old text are never applied to a new one."""
    place = tmp_path / "a.sql"
    place.write_text("SELECT 2;")
    findings = [make_finding(path="a.sql", edits=(edit("NOW()", "1"),))]
    with pytest.raises(FileMoved):
        write_patches(plan_patches(findings, {"a.sql": TEXT}), tmp_path)
    assert place.read_text() == "SELECT 2;"


def test_the_diff_is_one_that_git_applies(tmp_path: Path) -> None:
    """The diff turns the file before into the file after, without a newline at the end too."""
    place = tmp_path / "a.sql"
    place.write_text("SELECT 0;\nSELECT NOW();")
    text = place.read_text()
    findings = [make_finding(path="a.sql", edits=(edit("NOW()", "1", text),))]
    patches = plan_patches(findings, {"a.sql": text})
    (tmp_path / "fix.diff").write_text(diff_text(patches))
    subprocess.run(["git", "apply", "fix.diff"], cwd=tmp_path, check=True)
    assert place.read_text() == "SELECT 0;\nSELECT 1;"
