"""Pure tests first, then those on Spark, then real processes: the fast ones fail fast."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

ORDER = ("spark", "shop", "process")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort by the folder that a test lies in; within one, the order stays."""
    tests = Path(__file__).parent

    def rank(item: pytest.Item) -> int:
        folder = item.path.relative_to(tests).parts[0]
        return ORDER.index(folder) + 1 if folder in ORDER else 0

    items.sort(key=rank)
