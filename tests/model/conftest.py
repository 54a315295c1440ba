"""Tasks as plain data, without a project around them."""

from __future__ import annotations

import pytest
from tests.task_maker import Maker


@pytest.fixture(scope="session")
def make() -> Maker:
    """The maker of tasks; it keeps nothing, so one serves all."""
    return Maker()
