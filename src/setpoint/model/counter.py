"""A counter kept as a set: `qty = qty - delta` becomes a keyed adjustment, levels are derived.

Taking 3 off a number twice takes off 6. Putting the adjustment `a17: -3` into a table twice leaves
one adjustment, and the level is the opening plus the sum of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from setpoint.errors import UsageError
from setpoint.model.key import surrogate_key_of

if TYPE_CHECKING:
    from setpoint.model.encoding import KeyValue

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


@dataclass(frozen=True, kw_only=True)
class CounterAsSet:
    """The table of levels that was counted up and down, as a set of adjustments.

    `stock (sku, qty)` keeps the opening levels and is never updated again; `stock_adjustments`
    takes the changes; the view `stock_levels` has the columns of the old table, for its readers.
    """

    table: str
    key: str
    quantity: str
    schema: str | None = None
    placeholder: str = "?"
    """`%s` for psycopg."""

    def __post_init__(self) -> None:
        for name in (self.table, self.key, self.quantity, *filter(None, [self.schema])):
            if not NAME.match(name):
                raise UsageError(f"{name!r} cannot be the name of a table or column here")

    @property
    def adjustments(self) -> str:
        """The table of adjustments."""
        return self._named(f"{self.table}_adjustments")

    @property
    def levels(self) -> str:
        """The view of levels."""
        return self._named(f"{self.table}_levels")

    def statements(self) -> tuple[str, ...]:
        """What makes the table of adjustments and the view of levels, in SQLite and Postgres."""
        opening, key, quantity = self._named(self.table), self.key, self.quantity
        level = f"o.{quantity} + coalesce(sum(a.delta), 0)"
        return (
            (
                f"CREATE TABLE IF NOT EXISTS {self.adjustments} (adjustment_id TEXT NOT NULL "
                f"PRIMARY KEY, {key} TEXT NOT NULL, delta NUMERIC NOT NULL)"
            ),
            (
                f"CREATE VIEW {self.levels} AS SELECT o.{key}, {level} AS {quantity} "  # noqa: S608
                f"FROM {opening} AS o LEFT JOIN {self.adjustments} AS a ON a.{key} = o.{key} "
                f"GROUP BY o.{key}, o.{quantity}"
            ),
        )

    def create(self, cursor: Any) -> None:
        """Carry out the statements."""
        for statement in self.statements():
            cursor.execute(statement)

    def adjust(self, cursor: Any, *, key: KeyValue, delta: float, because: KeyValue) -> bool:
        """Record a change once for its cause; whether it was new.

        `because` is what brought the change about and never changes: the id of the movement, the
        order's line. The same cause with another delta is refused: one of the two is wrong.
        """
        mark = self.placeholder
        name = surrogate_key_of(because, key)
        cursor.execute(
            f"INSERT INTO {self.adjustments} (adjustment_id, {self.key}, delta)"  # noqa: S608
            f" VALUES ({mark}, {mark}, {mark}) ON CONFLICT (adjustment_id) DO NOTHING",
            (name, key, delta),
        )
        if cursor.rowcount == 1:
            return True
        query = f"SELECT delta FROM {self.adjustments} WHERE adjustment_id = {mark}"  # noqa: S608
        cursor.execute(query, (name,))
        (recorded,) = cursor.fetchone()
        if recorded != delta:
            raise UsageError(
                f"{because} changed {key} by {recorded} before, and now by {delta}",
                next_step="correct it with an adjustment of its own, under its own cause",
            )
        return False

    def _named(self, table: str) -> str:
        return f"{self.schema}.{table}" if self.schema else table
