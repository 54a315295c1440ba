"""What an engine knows of a task before it writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from setpoint.model.hidden_input import HiddenInputFound
    from setpoint.model.scope import Kinds


@dataclass(frozen=True, kw_only=True)
class Analysis:
    """The result's columns, the kinds of its time columns, and hidden inputs."""

    columns: Mapping[str, str]
    kinds: Kinds
    hidden: tuple[HiddenInputFound, ...]
    inputs: Mapping[str, str]
    """The snapshot of each source table that would be read."""
