"""A fleet made by hand, so that outputs are tested without reading a file."""

from __future__ import annotations

from setpoint.auditing.finding import (
    Edit,
    Finding,
    Pipeline,
    Report,
    Severity,
    Unparsed,
    Verdict,
)
from setpoint.auditing.outcome import Outcome, split_lines
from setpoint.auditing.rule import Rule

ORDERS = """-- nightly copy
INSERT INTO mart.orders
SELECT *
FROM raw.orders
WHERE ordered_at >= CURRENT_DATE - 1;
"""
USERS = """import smtplib
df.write.mode("append").saveAsTable("mart.users")
"""


def make_rule(rule_id: str, name: str, severity: Severity) -> Rule:
    """A rule with words in every field."""
    return Rule(
        id=rule_id,
        name=name,
        severity=severity,
        what=f"Finds {name}.",
        why="A second run changes the table.",
        before="sql\nINSERT INTO t SELECT * FROM s;",
        after="sql\nINSERT OVERWRITE t SELECT * FROM s;",
        ignore_when="The table is a log.",
    )


def make_finding(
    rule: str = "W01",
    *,
    path: str = "sql/orders.sql",
    line: int = 2,
    end_line: int | None = None,
    severity: Severity = Severity.ERROR,
    pipeline: str = "orders",
    edits: tuple[Edit, ...] = (),
    message: str = "A second run adds the rows of mart.orders again.",
    fix: str = "Replace the day:\nDELETE FROM mart.orders WHERE …",
) -> Finding:
    """A finding of which a test names only what it is about."""
    return Finding(
        rule=rule,
        severity=severity,
        path=path,
        line=line,
        end_line=line if end_line is None else end_line,
        message=message,
        fix=fix,
        pipeline=pipeline,
        edits=edits,
    )


RULES = {
    rule.id: rule
    for rule in (
        make_rule("W01", "unguarded-append", Severity.ERROR),
        make_rule("T01", "hidden-clock-in-filter", Severity.ERROR),
        make_rule("X01", "unguarded-mail", Severity.WARNING),
        make_rule("I01", "ignore-without-reason", Severity.ERROR),
    )
}


def make_outcome(*findings: Finding, unparsed: tuple[Unparsed, ...] = ()) -> Outcome:
    """A fleet of three pipelines with these findings."""
    report = Report(
        findings=findings,
        pipelines=(
            Pipeline(
                name="orders",
                kind="sql",
                path="sql/orders.sql",
                line=1,
                verdict=Verdict.UNSAFE,
                reads=("raw.orders",),
                writes=("mart.orders",),
                owner="@shop/orders",
            ),
            Pipeline(
                name="users",
                kind="pyspark",
                path="jobs/users.py",
                line=1,
                verdict=Verdict.UNKNOWN,
                writes=("mart.users",),
            ),
            Pipeline(
                name="days", kind="dbt-model", path="sql/days.sql", line=1, verdict=Verdict.SAFE
            ),
        ),
        unparsed=unparsed,
        files=3,
    )
    return Outcome(
        report=report,
        rules=RULES,
        lines={"sql/orders.sql": split_lines(ORDERS), "jobs/users.py": split_lines(USERS)},
    )


def sample() -> Outcome:
    """Two errors, a warning and something that could not be read."""
    return make_outcome(
        make_finding("W01", line=2, end_line=3),
        make_finding("T01", line=5, message="The filter reads the clock."),
        make_finding(
            "X01", path="jobs/users.py", line=2, severity=Severity.WARNING, pipeline="users"
        ),
        unparsed=(Unparsed(path="sql/odd.sql", line=7, reason="unexpected token"),),
    )
