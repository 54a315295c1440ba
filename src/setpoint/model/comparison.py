"""How one table's rows differ from another's: by window, in sums, with a sample."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from setpoint.model.window import Window


@dataclass(frozen=True, kw_only=True)
class WindowDiff:
    """Rows of one window: what is there now, and what would be."""

    window: Window
    before: int
    after: int
    added: int
    removed: int
    changed: int
    """Rows whose key is in both and whose other columns differ; 0 without a key."""

    @property
    def same(self) -> bool:
        """Whether nothing would change."""
        return not (self.added or self.removed or self.changed)


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """A range of windows, compared."""

    windows: tuple[WindowDiff, ...]
    sums: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """For each numeric column its sum now and then."""
    sample: tuple[str, ...] = ()
    """Some rows that differ, in words."""

    @property
    def same(self) -> bool:
        """Whether nothing would change."""
        return all(window.same for window in self.windows)

    def document(self) -> dict[str, object]:
        """As documented for `--output json`."""
        return {
            "same": self.same,
            "windows": [
                {
                    "window": each.window.label,
                    "before": each.before,
                    "after": each.after,
                    "added": each.added,
                    "removed": each.removed,
                    "changed": each.changed,
                }
                for each in self.windows
                if not each.same
            ],
            "sums": {name: list(pair) for name, pair in self.sums.items()},
            "sample": list(self.sample),
        }
