"""Tables of a lake: an Iceberg table of the project's catalogs, a Delta table in a folder."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from setpoint.errors import MissingExtra
from setpoint.model.settings import CatalogSettings, Settings
from setpoint.model.table import TableName
from setpoint.project.project import open_settings
from setpoint.verifying.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from setpoint.engine.spark.lake_content import LakeContent
    from setpoint.verifying.rows import Tables


class IcebergDestination:
    """A table that keeps its own history: it is put back by a snapshot."""

    def __init__(self, table: str, *, project: Path, say: Callable[[str], None]) -> None:
        self.table = TableName.parse(table)
        self.name = str(self.table)
        self._lake = _lake(open_settings(project), say)

    def read(self) -> Tables:
        """The rows of the current snapshot."""
        found = self._lake.iceberg_rows(self.table)
        return {} if found is None else {self.name: Rows.of(*found)}

    def glance(self) -> object:
        """The current snapshot."""
        return self._lake.snapshot(self.table)

    def between(self) -> AbstractContextManager[Sequence[object]]:
        """Each commit is one step; who watches sees them."""
        return nullcontext(())

    def keep(self) -> object:
        """The current snapshot: the table keeps its rows."""
        return self._lake.snapshot(self.table)

    def restore(self, kept: object) -> None:
        """Let readers see that snapshot again."""
        existed, snapshot = cast("tuple[bool, str | None]", kept)
        self._lake.put_back(self.table, existed=existed, snapshot=snapshot)

    def close(self) -> None:
        """Nothing was kept beside the table."""


class DeltaDestination:
    """A folder with a Delta log; kept as a copy of its files."""

    def __init__(self, path: Path, *, project: Path, say: Callable[[str], None]) -> None:
        self.path = path
        self.name = f"delta:{path}"
        self._lake = _lake(_delta_settings(project), say)
        self._kept: list[Path] = []

    def read(self) -> Tables:
        """The rows of the newest version."""
        if not (self.path / "_delta_log").is_dir():
            return {}
        return {self.path.name: Rows.of(*self._lake.delta_rows(self.path))}

    def glance(self) -> object:
        """The commits in the log."""
        log = self.path / "_delta_log"
        return tuple(sorted(entry.name for entry in log.glob("*.json"))) if log.is_dir() else ()

    def between(self) -> AbstractContextManager[Sequence[object]]:
        """Each commit is one step; who watches sees them."""
        return nullcontext(())

    def keep(self) -> object:
        """A copy of the folder."""
        copy = Path(tempfile.mkdtemp(prefix="setpoint-verify-")) / "kept"
        self._kept.append(copy)
        if self.path.exists():
            shutil.copytree(self.path, copy)
        return copy

    def restore(self, kept: object) -> None:
        """Put the copy back."""
        if self.path.exists():
            shutil.rmtree(self.path)
        if Path(str(kept)).exists():
            shutil.copytree(str(kept), self.path)

    def close(self) -> None:
        """Remove the copies."""
        for copy in self._kept:
            shutil.rmtree(copy.parent, ignore_errors=True)


def _delta_settings(project: Path) -> Settings:
    """Settings for nothing but reading Delta: the command's project, if any, is not needed."""
    return Settings(
        root=project,
        name="verify",
        pipelines=project,
        ledger_url="memory:",
        catalogs={"delta": CatalogSettings(name="delta", type="delta", warehouse=project)},
        # The command's folder is not ours to write a log to.
        state_folder=Path(tempfile.mkdtemp(prefix="setpoint-verify-")),
    )


def _lake(settings: Settings, say: Callable[[str], None]) -> LakeContent:
    try:
        from setpoint.engine.spark.lake_content import LakeContent as Found
    except ModuleNotFoundError as error:
        if error.name and error.name.partition(".")[0] in ("pyspark", "py4j"):
            raise MissingExtra("pyspark", "spark") from None
        raise
    say("starting Spark")
    found: Any = Found(settings, say=say)
    return cast("LakeContent", found)
