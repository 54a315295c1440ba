"""One moment of each database, at which an attempt reads all of its ranges and tables.

Ranges are read over several connections. Each for itself would see the table as it is when its
turn comes, and a commit in between would be read in one range and missed in the next. So one
transaction is held open and shared: the server calls that an exported snapshot.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from setpoint.engine.spark.postgres.connection import connected, run

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

    from setpoint.engine.spark.postgres.connection import Login

ISOLATION = "TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"


class Moments:
    """The moment of each database that was asked for, held until the attempt ends."""

    def __init__(self) -> None:
        self._held = ExitStack()
        self._statements: dict[str, str] = {}

    def joining(self, login: Login) -> str:
        """What a connection says first, to see the database as all others of this attempt do."""
        if login.name not in self._statements:
            connection = self._held.enter_context(connected(login))
            connection.commit()  # the session's settings began a transaction of their own
            run(connection, f"BEGIN {ISOLATION}")
            found = run(connection, "SELECT pg_export_snapshot()").fetchone()
            name = found[0] if found else ""
            self._statements[login.name] = f"SET {ISOLATION}; SET TRANSACTION SNAPSHOT '{name}'"
        return self._statements[login.name]

    def __enter__(self) -> Self:
        """Let go of every moment at the end of a `with`."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Let go."""
        self._held.close()
