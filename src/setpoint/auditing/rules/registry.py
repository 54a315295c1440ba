"""Every rule, listed by hand; order matters only in that S01 speaks of what others found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setpoint.auditing.rules import (
    e01_environment,
    i01_ignore_without_reason,
    i02_unused_ignore,
    r01_unseeded_random,
    r02_random_uuid,
    r03_sequence,
    r04_row_number_key,
    s01_unsafe_retries,
    s02_no_backfill,
    t01_clock_filter,
    t02_clock_placement,
    t03_clock_cursor,
    t04_clock_window,
    t05_clock_audit,
    w01_unguarded_append,
    w02_torn_replace,
    w03_dynamic_overwrite,
    w04_coarse_overwrite,
    w05_merge_with_duplicates,
    w06_weak_key,
    w07_counter,
    w08_dbt_append,
    w09_unsafe_stream,
    x01_mail,
    x02_chat,
    x03_post,
    x04_publish,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from setpoint.auditing.finding import Finding
    from setpoint.auditing.rule import Rule
    from setpoint.auditing.world import Case

JUDGES: tuple[Callable[[Case], Iterable[Finding]], ...] = (
    w01_unguarded_append.judge,
    w02_torn_replace.judge,
    w03_dynamic_overwrite.judge,
    w04_coarse_overwrite.judge,
    w05_merge_with_duplicates.judge,
    w06_weak_key.judge,
    w07_counter.judge,
    w08_dbt_append.judge,
    w09_unsafe_stream.judge,
    t01_clock_filter.judge,
    t02_clock_placement.judge,
    t03_clock_cursor.judge,
    t04_clock_window.judge,
    t05_clock_audit.judge,
    r01_unseeded_random.judge,
    r02_random_uuid.judge,
    r03_sequence.judge,
    r04_row_number_key.judge,
    e01_environment.judge,
    x01_mail.judge,
    x02_chat.judge,
    x03_post.judge,
    x04_publish.judge,
    s01_unsafe_retries.judge,
    s02_no_backfill.judge,
)

RULES: tuple[Rule, ...] = (
    w01_unguarded_append.RULE,
    w02_torn_replace.RULE,
    w03_dynamic_overwrite.RULE,
    w04_coarse_overwrite.RULE,
    w05_merge_with_duplicates.RULE,
    w06_weak_key.RULE,
    w07_counter.RULE,
    w08_dbt_append.RULE,
    w09_unsafe_stream.RULE,
    t01_clock_filter.RULE,
    t02_clock_placement.RULE,
    t03_clock_cursor.RULE,
    t04_clock_window.RULE,
    t05_clock_audit.RULE,
    r01_unseeded_random.RULE,
    r02_random_uuid.RULE,
    r03_sequence.RULE,
    r04_row_number_key.RULE,
    e01_environment.RULE,
    x01_mail.RULE,
    x02_chat.RULE,
    x03_post.RULE,
    x04_publish.RULE,
    s01_unsafe_retries.RULE,
    s02_no_backfill.RULE,
    i01_ignore_without_reason.RULE,
    i02_unused_ignore.RULE,
)


def rule_named(rule_id: str) -> Rule | None:
    """The rule of an id, or None."""
    return next((rule for rule in RULES if rule.id == rule_id), None)
