from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from tests.audit.fuzz import fuzz
from tests.audit.mutating import MUTATIONS, mutated

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.process
def test_broken_files_neither_crash_nor_hang_an_audit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A small sample of what `make audit-fuzz` does with thousands."""
    assert fuzz(tmp_path, count=120, seed=5, processes=2) == 0
    assert "120 mutated files" in capsys.readouterr().out


def test_mutations_are_the_same_each_time_and_do_something() -> None:
    """A fault that was found once can be found again."""
    text = "INSERT INTO t\nSELECT a, b FROM s;\n"
    first = [mutated(text, [text], random.Random(seed)) for seed in range(50)]
    assert first == [mutated(text, [text], random.Random(seed)) for seed in range(50)]
    assert len(set(first)) > 40
    for mutation in MUTATIONS:
        assert mutation("", random.Random(1)) is not None
