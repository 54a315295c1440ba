"""Which test of a scenario must fail when which mechanism is switched off.

One line a scenario at least, by its cheapest test; `make mechanisms` runs them all.
"""

from __future__ import annotations

from dataclasses import dataclass

SCENARIOS = (*range(1, 24), 37)
"""What dies, and who meets whom."""


@dataclass(frozen=True)
class Proof:
    """A test that was seen to fail without the mechanism that it tests."""

    scenario: int
    test: str
    """Its file below tests/ and its name, with the case in brackets where there are many."""
    switch: str


PROOFS = (
    Proof(
        1,
        "leases/test_processes.py::test_scenario_1_killed_before_anything_was_written[adopt.after]",
        "death",
    ),
    Proof(
        2,
        "engine/test_swap.py::test_scenarios_2_and_3_files_of_a_dead_attempt_are_nobodys[2]",
        "staging",
    ),
    Proof(
        3,
        "engine/test_swap.py::test_scenarios_2_and_3_files_of_a_dead_attempt_are_nobodys[3]",
        "token",
    ),
    Proof(
        4,
        "leases/test_processes.py::test_scenario_4_killed_after_the_commit_it_is_adopted",
        "reconciliation",
    ),
    Proof(
        4,
        "spark/test_setting_a_window.py"
        "::test_scenario_4_a_commit_that_the_ledger_missed_is_adopted",
        "history",
    ),
    Proof(
        5,
        "running/test_runner_effects.py::test_scenario_5_died_after_recording_before_sending",
        "outbox",
    ),
    Proof(
        6,
        "effects/test_dying.py::test_scenario_6_killed_inside_an_effect_without_a_key[after]",
        "doubt",
    ),
    Proof(
        7,
        "engine/test_swap.py::test_scenario_7_a_crash_between_any_two_renames_is_finished[1-2]",
        "finishing",
    ),
    Proof(
        8,
        "crash/test_scenarios.py"
        "::test_scenario_8_only_the_client_dies_and_spark_goes_on[iceberg_overwrite]",
        "validation",
    ),
    Proof(
        9,
        "spark/test_lost_answers.py::test_scenario_9_a_lost_answer_is_looked_up[done-iceberg]",
        "lookup",
    ),
    Proof(
        10,
        "ledger/test_ledger_file.py::test_scenario_10_a_full_disk_is_told_and_harms_nothing",
        "words",
    ),
    Proof(
        11,
        "leases/test_processes.py"
        "::test_scenario_11_the_second_of_two_commands_waits_and_says_for_whom",
        "leases",
    ),
    Proof(
        12,
        "leases/test_processes.py::test_scenario_12_two_machines_take_turns_by_a_postgres_ledger",
        "leases",
    ),
    Proof(
        13,
        "leases/test_processes.py::test_scenario_13_different_windows_go_on_side_by_side",
        "apart",
    ),
    Proof(
        14,
        "running/test_lease_keeper.py"
        "::test_scenario_14_a_run_that_lost_its_lease_stops_itself_and_says_to_whom[None]",
        "loss",
    ),
    Proof(
        14,
        "engine/test_swap.py::test_scenario_14_nothing_over_nothing_is_a_conflict_too",
        "fence",
    ),
    Proof(
        15,
        "running/test_lease_keeper.py::test_scenario_15_renewals_that_fail_for_a_while_do_no_harm",
        "patience",
    ),
    Proof(
        16,
        "leases/test_processes.py::test_scenario_16_a_clock_wrong_by_hours_takes_nothing_over[9]",
        "beats",
    ),
    Proof(
        17,
        "leases/test_processes.py"
        "::test_scenario_17_and_18_overlapping_ranges_take_turns[17-a-run-meets-a-backfill]",
        "overlap",
    ),
    Proof(
        18,
        "leases/test_processes.py"
        "::test_scenario_17_and_18_overlapping_ranges_take_turns[18-two-backfills-overlap]",
        "overlap",
    ),
    Proof(
        18,
        "ledger/test_backfill_records.py"
        "::test_scenario_18_an_overlapping_backfill_is_refused_with_the_id_of_the_other[sqlite]",
        "clash",
    ),
    Proof(
        19,
        "spark/test_setting_a_window.py"
        "::test_scenario_19_a_foreign_write_to_the_window_is_a_conflict",
        "validation",
    ),
    Proof(20, "spark/test_delta.py::test_compaction_meanwhile_is_no_conflict", "housekeeping"),
    Proof(
        21,
        "spark/test_every_target.py"
        "::test_scenario_21_a_reader_during_a_rewrite_sees_old_or_new[iceberg]",
        "one commit",
    ),
    Proof(
        22,
        "ledger/test_ledger_contention.py"
        "::test_scenario_22_a_thousand_runs_from_eight_processes_lose_nothing",
        "turns",
    ),
    Proof(
        23,
        "running/test_lease_keeper.py"
        "::test_scenario_23_the_lease_is_given_back_however_the_run_ends[fault1]",
        "release",
    ),
    Proof(
        23,
        "process/test_dying.py::test_scenario_23_a_signal_ends_the_run_cleanly_and_blames_no_task"
        "[sigterm]",
        "signal",
    ),
    Proof(
        37,
        "leases/test_processes.py::test_scenario_37_a_restart_of_the_ledgers_server_is_survived",
        "reconnecting",
    ),
    Proof(
        37,
        "spark/postgres/test_faults.py"
        "::test_scenario_37_a_crash_between_copy_and_transaction_is_noticed",
        "count",
    ),
)
