"""W08: a dbt incremental model that appends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setpoint.auditing.facts import How
from setpoint.auditing.finding import Finding, Severity
from setpoint.auditing.rule import Rule
from setpoint.auditing.rules.found import found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from setpoint.auditing.world import Case

RULE = Rule(
    id="W08",
    name="dbt-append",
    severity=Severity.ERROR,
    what="An incremental dbt model has no unique_key, or its strategy is append.",
    why="Without a key dbt inserts whatever the query gives. A rerun of the same period, a late "
    "row "
    "or a tie at the high-water mark gives duplicates or gaps.",
    before="""sql
{{ config(materialized='incremental') }}
select * from {{ ref('orders') }}
{% if is_incremental() %}
where updated_at > (select max(updated_at) from {{ this }})
{% endif %}""",
    after="""sql
{{ config(materialized='incremental', unique_key='order_id', incremental_strategy='merge') }}
select * from {{ ref('orders') }}
{% if is_incremental() %}
where updated_at > (select max(updated_at) from {{ this }})
{% endif %}""",
    ignore_when="The source is immutable and each row is read exactly once.",
)


def judge(case: Case) -> Iterator[Finding]:
    """Incremental models that append."""
    for write in case.unit.writes:
        if write.language == "dbt" and write.how is How.APPEND and not write.guard:
            cause = "its strategy is append" if write.scope == "append" else "it has no unique_key"
            yield found(
                RULE,
                case,
                write.spot,
                f"the incremental model {write.table} only adds rows: {cause}",
                "unique_key='<business key>' with incremental_strategy='merge' (or "
                "'delete+insert'), or "
                "'insert_overwrite' / 'microbatch' by the date of the rows",
            )
