"""R03: a number drawn from a sequence when a row is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setpoint.auditing import naming
from setpoint.auditing.facts import How, Source, Spot
from setpoint.auditing.finding import Finding, Severity
from setpoint.auditing.rule import Rule
from setpoint.auditing.rules.drawing import draws
from setpoint.auditing.rules.found import found, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from setpoint.auditing.facts import Write
    from setpoint.auditing.world import Case

RULE = Rule(
    id="R03",
    name="sequence",
    severity=Severity.WARNING,
    what="A key is drawn from a sequence, an identity or auto-increment column, or from "
    "`monotonically_increasing_id`, at the moment of the write.",
    why="The same row gets another number on each run, so whatever refers to it breaks, and a "
    "rerun "
    "cannot find the row that it wrote before.",
    before="""sql
INSERT INTO adjustments (txn_id, sku, delta) SELECT nextval('txn_seq'), sku, delta FROM changes;""",
    after="""sql
INSERT INTO adjustments (txn_id, sku, delta)
SELECT md5(sku || '|' || day), sku, delta FROM changes;""",
    ignore_when="No other table refers to the number.",
)


def judge(case: Case) -> Iterator[Finding]:
    """Numbers drawn at write time."""
    for draw in draws(
        case, Source.SEQUENCE, {"value", "key", "partition", "filter", "join", "audit"}
    ):
        if naming.is_ordinal(draw.column):
            # Rows are numbered to be picked or paged, and nothing refers to the number.
            continue
        yield found(
            RULE,
            case,
            draw.spot,
            f"{draw.text} numbers {draw.column or 'the row'} anew on each run",
            "derive the key from the business key: a hash of stable columns",
        )
    for write in case.unit.writes:
        made = write.how in {How.CREATE, How.OVERWRITE}
        if made and write.serial and _matters(case, write):
            spot = write.serial_spot or Spot(line=write.spot.line, end_line=write.spot.end_line)
            yield found(
                RULE,
                case,
                spot,
                f"{shown(write.table)}.{write.serial} numbers itself at the write: a rerun "
                f"gives other numbers",
                "derive the key from the business key: a hash of stable columns",
            )


def _matters(case: Case, write: Write) -> bool:
    """Whether a column that numbers itself is a key of the warehouse, not of an application."""
    table = write.table
    if naming.may_be_log_table(table) or naming.is_temporary_table(table):
        return False
    if case.file.setting in {"application", "test", "sample"}:
        return False
    if naming.is_warehouse_key(write.serial) or naming.is_warehouse_table(table):
        return True
    # Every table of an application has an `id`; `order_id` that numbers itself is a key of its own.
    named = write.serial != "id"
    return named and any(naming.same_table(table, other) for other in case.world.loaded)
