"""What a hidden value decides: the key, the place, the cursor, or a note of when a row came."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setpoint.auditing import naming
from setpoint.auditing.facts import How, Source

if TYPE_CHECKING:
    from setpoint.auditing.facts import Write
    from setpoint.auditing.sql.inputs import Input


def settled_role(one: Input, write: Write | None) -> str:
    """The role of a value by the name of the column that takes it."""
    if one.role not in {"value", "default"}:
        return one.role
    column = one.column
    if one.role == "default":
        placed = write is not None and column.lower() in write.scope_columns
        return "default-partition" if placed else "default"
    if one.source in {Source.CLOCK, None} and write is not None:
        kept = write.how in {How.UPDATE, How.UPSERT, How.MERGE, How.APPEND}
        if kept and (naming.is_cursor(column) or naming.is_state_table(write.table)):
            return "cursor"
        if column and column.lower() in write.scope_columns:
            return "partition"
    return role_of_column(column, one.role)


def role_of_column(column: str, otherwise: str = "value") -> str:
    """What a value decides when it fills a column of this name."""
    if not column:
        return otherwise
    if naming.is_partition_column(column):
        return "partition"
    if naming.is_audit_column(column):
        return "audit"
    if naming.is_key_column(column):
        return "key"
    return otherwise
