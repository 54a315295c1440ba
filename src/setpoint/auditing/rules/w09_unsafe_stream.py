"""W09: a stream that forgets or repeats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setpoint.auditing.facts import How
from setpoint.auditing.finding import Finding, Severity
from setpoint.auditing.guarding import Outcome, appends
from setpoint.auditing.rule import Rule
from setpoint.auditing.rules.found import found, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from setpoint.auditing.world import Case

RULE = Rule(
    id="W09",
    name="unsafe-stream",
    severity=Severity.ERROR,
    what="A streaming write has no checkpoint, or its batch function appends without regard to the "
    "batch's id.",
    why="Without a checkpoint a restart begins anew and writes everything again. A micro-batch is "
    "given at least once: after a crash the same batch comes again, and an append doubles it.",
    before="""python
def save(batch, batch_id):
    batch.write.mode("append").jdbc(url, "events")

stream.writeStream.foreachBatch(save).start()""",
    after="""python
def save(batch, batch_id):
    (batch.write.format("delta").mode("append")
        .option("txnAppId", "events").option("txnVersion", batch_id).saveAsTable("events"))

stream.writeStream.foreachBatch(save).option("checkpointLocation", path).start()""",
    ignore_when="The stream only feeds a display, or the sink drops repeats by key.",
)


def judge(case: Case) -> Iterator[Finding]:
    """Streams without a checkpoint, and batch functions that append."""
    if case.file.setting != "pipeline":
        return
    for write in case.unit.writes:
        if write.how is How.STREAM and not write.guard:
            yield found(
                RULE,
                case,
                write.spot,
                f"the stream into {shown(write.table)} has no checkpoint: a restart begins anew",
                '.option("checkpointLocation", "<a path that lasts>") before .start()',
            )
    for append in appends(case):
        if append.write.batched and append.outcome is Outcome.DOUBLED:
            yield found(
                RULE,
                case,
                append.write.spot,
                f"a micro-batch that comes again is added to {shown(append.write.table)} again",
                "MERGE on the key, or Delta's txnAppId and txnVersion from the batch id",
            )
