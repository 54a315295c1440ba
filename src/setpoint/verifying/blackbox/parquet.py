"""A folder of Parquet files, partitioned in Hive's way or not at all."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setpoint.errors import MissingExtra
from setpoint.verifying.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from setpoint.verifying.rows import Tables


class ParquetDestination:
    """One folder; kept as a copy of its files."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = str(path)
        self._kept: list[Path] = []
        _pyarrow()

    def read(self) -> Tables:
        """The rows of all files, with the columns that stand in the names of folders."""
        dataset = _pyarrow()
        files = self._files()
        if not files:
            return {}
        try:
            found = dataset.dataset(
                [str(file) for file in files],
                format="parquet",
                partitioning="hive",
                partition_base_dir=str(self.path),
            ).to_table()
        except (OSError, ValueError) as error:
            # Half a file, as a reader would meet it: a state like any other, only a bad one.
            words = " ".join(str(error).split())[:120]
            return {self.path.name: Rows.of(["cannot be read"], [(words,)])}
        return {self.path.name: Rows.of(found.column_names, _tuples(found))}

    def glance(self) -> object:
        """The files, as they lie there."""
        return tuple((str(f.relative_to(self.path)), f.stat().st_size) for f in self._files())

    def between(self) -> AbstractContextManager[Sequence[object]]:
        """Nothing is told of single steps here; who watches sees them."""
        return nullcontext(())

    def keep(self) -> object:
        """A copy of the folder."""
        copy = Path(tempfile.mkdtemp(prefix="setpoint-verify-")) / "kept"
        self._kept.append(copy)
        if self.path.exists():
            shutil.copytree(self.path, copy)
        return copy

    def restore(self, kept: object) -> None:
        """Put the copy back; a folder that was not there is removed."""
        copy = Path(str(kept))
        if self.path.exists():
            shutil.rmtree(self.path)
        if copy.exists():
            shutil.copytree(copy, self.path)

    def close(self) -> None:
        """Remove the copies."""
        for copy in self._kept:
            shutil.rmtree(copy.parent, ignore_errors=True)

    def _files(self) -> list[Path]:
        """What a reader would read: no file that is hidden, or still being written."""
        if not self.path.is_dir():
            return []
        found = []
        for file in sorted(self.path.rglob("*.parquet")):
            inside = file.relative_to(self.path).parts
            if not any(part.startswith(("_", ".")) for part in inside) and file.stat().st_size:
                found.append(file)
        return found


def _tuples(table: Any) -> list[tuple[Any, ...]]:
    columns = [table.column(name).to_pylist() for name in table.column_names]
    return list(zip(*columns, strict=True)) if columns else []


def _pyarrow() -> Any:
    try:
        import pyarrow.dataset
    except ModuleNotFoundError:
        raise MissingExtra("pyarrow", "parquet") from None
    return pyarrow.dataset
