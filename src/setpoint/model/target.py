"""Targets: what each kind of destination can do, and what it promises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from setpoint.model.settings import Settings

PATTERNS: dict[str, tuple[str, ...]] = {
    "iceberg": ("overwrite", "replace", "merge"),
    "delta": ("overwrite", "replace", "merge"),
    "parquet": ("overwrite", "replace"),
    "postgres": ("merge", "replace"),
}
"""The write patterns that each kind of catalog or connection supports."""

DATABASES = ("postgres",)
"""The kinds that are connections, not catalogs."""

FOLDERS = ("delta", "parquet")
"""The kinds of catalog that are nothing but a folder of tables."""


@dataclass(frozen=True, kw_only=True)
class Guarantees:
    """What a kind of target promises, in facts for programs and words for people."""

    atomic: bool
    """Readers see a write as a whole or not at all."""
    readers: str
    """What somebody sees who reads while a window is being set."""
    isolation: str
    """Which writes at the same time are refused."""
    token: str
    """Where the run id and fence of a commit are kept, to be found again after a crash."""
    history: bool
    """Earlier states of the table can be read again."""

    @property
    def lines(self) -> tuple[str, ...]:
        """The promises in words."""
        return (
            f"readers: {self.readers}",
            f"conflicts: {self.isolation}",
            f"token: {self.token}",
            "history: earlier states can be read again"
            if self.history
            else "history: none; a window that was set again is gone as it was",
        )


OLD_OR_NEW = "old rows or new ones, never a mixture: one commit"

GUARANTEES: dict[str, Guarantees] = {
    "iceberg": Guarantees(
        atomic=True,
        readers=OLD_OR_NEW,
        isolation="any write to the same scope since the run began; other windows go on",
        token="in the summary of the table's snapshot",  # noqa: S106 — of a commit
        history=True,
    ),
    "delta": Guarantees(
        atomic=True,
        readers=OLD_OR_NEW,
        isolation="any write to the same scope since the run began; other windows go on",
        token="in the commit's userMetadata, and as its transaction id",  # noqa: S106 — of a commit
        history=True,
    ),
    "parquet": Guarantees(
        atomic=False,
        readers="may see the swap: for a moment a folder is gone, or only some are new",
        isolation="another run's write to the same folders; a foreign program's write is not seen",
        token="in a file under _setpoint/commits/ in the table's folder",  # noqa: S106 — of a commit
        history=False,
    ),
    "postgres": Guarantees(
        atomic=True,
        readers="old rows or new ones, never a mixture: one transaction",
        isolation="another run's write to the same scope since this one began, or a newer fence; "
        "a foreign program's write is not seen",
        token="in setpoint.commits of the same database, in the same transaction",  # noqa: S106
        history=False,
    ),
}
"""The promises of each kind of catalog or connection."""


def kind_of(settings: Settings, first_name: str) -> str | None:
    """The kind of the catalog or connection of this name; None when there is none."""
    found = settings.catalogs.get(first_name) or settings.connections.get(first_name)
    return found.type if found else None
