"""What `make test` leaves to `make test-all`: more of the same, on the slowest parts.

Each stands for a behaviour that another test holds in `make test`: the same one on another target,
or the same one more often.
"""

from __future__ import annotations

LONG = (
    # Delta does in seconds what other tables do in tenths; its sample stays in.
    "test_every_target.py::test_ten_runs_leave_what_one_left[delta]",
    "test_every_target.py::test_replace_sets_the_whole_table_however_often[delta]",
    "test_every_target.py::test_scenario_19_a_stale_base_is_refused_for_the_same_window_only[delta]",
    "test_every_target.py::test_scenario_20_housekeeping_meanwhile_leaves_the_window_right[delta",
    "test_every_target.py::test_scenario_21_a_reader_during_a_rewrite_sees_old_or_new[delta]",
    "test_every_target.py::test_scenario_32_an_existing_table_laid_out_otherwise[delta",
    "test_every_target.py::test_scenario_34_odd_names_of_columns_are_quoted[delta]",
    "test_every_target.py::test_scenario_35_windows_in_any_order_and_number_give_one_result[delta]",
    "test_every_target.py::test_a_dead_runs_commit_that_a_stranger_wrote_over_is_not_adopted[delta]",
    "test_every_merge.py::test_ten_merges_leave_what_one_left[delta]",
    "test_every_merge.py::test_a_merge_that_failed_in_the_middle_leaves_no_trace[delta]",
    "test_every_merge.py::test_neighbours_and_an_empty_day[delta]",
    "test_every_merge.py::test_scenario_31_a_changed_schema_is_refused[delta]",
    "test_every_merge.py::test_scenario_35_days_in_any_order_and_number_give_one_result[delta]",
    "test_delta.py::test_hours_in_shared_files_are_set_side_by_side",
    # Planted tasks that another planted one is much like.
    *(
        f"test_verify_faults.py::{test}[{name}]"
        for test, names in {
            "test_a_broken_task_is_caught_and_its_cause_is_named": (
                "chance_in_a_udf",
                "clock_column_seen",
                "clock_in_sql",
                "day_in_python",
                "hour_of_the_machine",
                "numbered_rows",
                "posts_from_the_task",
                "random_sample_seen",
                "region_of_a_variable",
                "ties_in_sql",
                "uuid_of_python",
                "uuid_of_spark_seen",
            ),
            "test_a_sound_task_is_not_accused": ("labels_by_window", "set_for_membership"),
        }.items()
        for name in names
    ),
    # Five starts of a JVM; the matrix of crashes and the demo kill trees as well.
    "test_tree_killed.py",
)


def is_long(node: str) -> bool:
    """Whether a test waits for `make test-all`."""
    return any(each in node for each in LONG)
