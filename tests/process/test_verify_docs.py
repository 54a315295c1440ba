"""The worked examples of the documentation, as they are written there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.process
TOP = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TIMES = re.compile(r"\d+\.\d+ s\b")
SCRIPT = "examples/load_orders.py"
SETPOINT = Path(sys.executable).with_name("setpoint")


def blocks(name: str, kind: str = "") -> list[str]:
    """The blocks of code on a page."""
    text = (TOP / name).read_text(encoding="utf-8")
    return [body for language, body in BLOCK.findall(text) if language == kind]


def verified(folder: Path) -> tuple[int, str]:
    """The exit code and the output of the page's command."""
    done = subprocess.run(
        [
            str(SETPOINT),
            "verify",
            "--command",
            f"{sys.executable} {SCRIPT} {{ds}}",
            *["--target", "shop.db", "--ds", "2026-04-25"],
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout.replace(sys.executable, "python3")


def test_verify_says_what_the_page_and_the_readme_say(tmp_path: Path) -> None:
    """The broken script of docs/verify.md gives exactly the output shown, but for times."""
    broken, mended = blocks("docs/verify.md", "python")
    shown = next(text for text in blocks("docs/verify.md") if text.startswith("NOT IDEMPOTENT"))
    assert broken == (TOP / SCRIPT).read_text(encoding="utf-8")
    (tmp_path / "examples").mkdir()
    (tmp_path / SCRIPT).write_text(broken)
    code, said = verified(tmp_path)
    assert code == 1
    assert TIMES.sub("…", said) == TIMES.sub("…", shown)
    assert shown in blocks("README.md")
    readme = (TOP / "README.md").read_text(encoding="utf-8").splitlines()
    assert readme.index(f"NOT IDEMPOTENT  python3 {SCRIPT} {{ds}}") < 80, "two screens"
    asked = f'--command "python3 {SCRIPT} {{ds}}" --target shop.db --ds 2026-04-25'
    assert f".venv/bin/setpoint verify {asked}" in readme, "as a clone has it"
    (tmp_path / SCRIPT).write_text(mended)
    code, said = verified(tmp_path)
    assert (code, said.splitlines()[0]) == (0, f"IDEMPOTENT  python3 {SCRIPT} {{ds}}")


def test_the_tests_of_the_page_pass(tmp_path: Path) -> None:
    """The project, the task and the tests of docs/testing-your-pipelines.md, under pytest."""
    task, tests = blocks("docs/testing-your-pipelines.md", "python")
    (tmp_path / "setpoint.toml").write_text('[project]\nname = "shop"\n')
    (tmp_path / "pipelines").mkdir()
    (tmp_path / "pipelines" / "revenue_daily.py").write_text(task)
    (tmp_path / "test_revenue_daily.py").write_text(tests)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "."],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "3 passed" in done.stdout, done.stdout + done.stderr
    assert not (tmp_path / "warehouse").exists()


def test_the_plugin_imports_no_spark(tmp_path: Path) -> None:
    """Pytest loads it at every start."""
    probe = "import sys, setpoint.testing.plugin; print('pyspark' in sys.modules, len(sys.modules))"
    shown = subprocess.run(
        [sys.executable, "-c", probe], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    assert shown.startswith("False")
