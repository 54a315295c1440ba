"""A project in a folder of its own."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from tests.project_folder import ProjectFolder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[ProjectFolder]:
    """A project with settings and no tasks; what loading it imports is forgotten afterwards."""
    path, modules = list(sys.path), set(sys.modules)
    yield ProjectFolder(tmp_path)
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]
