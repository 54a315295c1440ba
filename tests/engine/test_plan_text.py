"""Hidden inputs are found in the text of a plan; the texts are what Spark 4.1 prints."""

from __future__ import annotations

import pytest

from setpoint.engine.spark.plan_text import (
    PlanText,
    cheap_to_repeat,
    grouped_by,
    hidden_inputs,
)

BELOW = """\
+- Project [id#0L, timestamp_seconds(id#0L) AS ordered_at#1, (id#0L % 2) AS region#2L]
   +- Range (0, 3, step=1, splits=Some(1))
"""


def plan(analyzed: str, optimized: str = "Range (0, 3, step=1, splits=Some(1))") -> PlanText:
    """A plan of this node over a small table."""
    return PlanText.of(
        "== Parsed Logical Plan ==\n'Project [*]\n\n"
        f"== Analyzed Logical Plan ==\nid: bigint, now(): string\n{analyzed}\n{BELOW}\n"
        f"== Optimized Logical Plan ==\n{optimized}\n\n"
        "== Physical Plan ==\n*(1) Range (0, 3, step=1, splits=1)\n"
    )


def found(first: PlanText, second: PlanText | None = None) -> list[tuple[str, str, bool]]:
    """Function, place and refusal of each hidden input."""
    return [(item.function, item.place, item.refused) for item in hidden_inputs(first, second)]


@pytest.mark.parametrize(
    ("node", "optimized", "expected"),
    [
        (
            "Filter (ordered_at#1 > cast(now() - INTERVAL '1' DAY as timestamp))",
            "Filter (timestamp_seconds(id#0L) > 2026-11-14 11:40:12.941301)",
            [("now", "a filter", True)],
        ),
        (
            "Join Inner, ((id#0L = id#3L) AND (ordered_at#4 < current_timestamp()))",
            "Join Inner, (id#0L = id#3L)",
            [("current_timestamp", "a join", True)],
        ),
        (
            "Project [id#0L, current_date(Some(UTC)) AS loaded_on#6]",
            "Project [id#0L, 2026-11-15 AS loaded_on#6]",
            [("current_date", "column loaded_on", True)],
        ),
        (
            "Project [id#0L, localtimestamp(Some(UTC)) AS l#7]",
            "Project [id#0L, 2026-11-15 11:40:13.406017 AS l#7]",
            [("localtimestamp", "column l", True)],
        ),
        (
            (
                "Project [id#0L, unix_timestamp(current_timestamp(), yyyy-MM-dd HH:mm:ss, "
                "Some(UTC), true) AS u#8L]"
            ),
            "Project [id#0L, 1794742813 AS u#8L]",
            [("current_timestamp", "column u", True)],
        ),
        (
            "Aggregate [date_trunc(day, now(), Some(UTC))], [count(1) AS c#38L]",
            "Aggregate [0], [count(1) AS c#38L]",
            [("now", "a grouping", True)],
        ),
        (
            "Deduplicate [now()]",
            "Deduplicate [2026-11-15]",
            [("now", "the Deduplicate of the plan", True)],
        ),
    ],
)
def test_a_clock_is_found_wherever_it_stands(
    node: str, optimized: str, expected: list[tuple[str, str, bool]]
) -> None:
    """In a filter, a join, a column, a grouping, and inside other functions (D3)."""
    assert found(plan(node, optimized)) == expected


@pytest.mark.parametrize(
    "node",
    [
        "Project [id#0L, now() AS note#9, see current_date() in the manual AS more#10]",
        "Project [id#0L, concat(now(), cast(region#2L as string)) AS note#11]",
        "Project [id#0L, known(id#0L) AS a#9, my.now(id#0L) AS b#10, `now`(id#0L) AS c#11]",
        "Project [now#9, current_date#10]",
        "Filter (note#9 = it is now (or never))",
    ],
)
def test_a_text_that_only_reads_like_a_clock_is_none(node: str) -> None:
    """Planning turns a clock into a literal; a text stays as it is. A false alarm costs trust."""
    assert found(plan(node, node)) == []


def test_functions_whose_names_only_end_alike_are_others() -> None:
    """A user's own `my_now`, `shop.now` or `brand` is not Spark's, also when planning folds it."""
    calls = "Project [my_now(1) AS a#1, shop.now(1) AS b#2, `now`(1) AS c#3, brand(7) AS d#4]"
    assert found(plan(calls, "Project [1 AS a#1]")) == []


def test_a_clock_beside_a_text_that_reads_like_one_is_found() -> None:
    """The text does not hide the clock."""
    node = "Project [now() AS note#9, now() AS stamped#10]"
    functions = found(plan(node, "Project [now() AS note#9, 2026-11-15 11:40 AS stamped#10]"))
    assert ("now", "column stamped", True) in functions


def test_column_names_in_the_schema_are_not_read() -> None:
    """The first line of the analysed plan is the schema: a column may be called now()."""
    assert found(plan("Project [id#0L]")) == []


RAND = "Project [id#0L, rand({}) AS sample#12]"


def test_an_unseeded_rand_is_refused() -> None:
    """Built twice it has two seeds, so nobody set it."""
    first, second = plan(RAND.format(7337241014474674333)), plan(RAND.format(-9141749964528775587))
    assert found(first, second) == [("rand", "column sample", True)]


def test_a_seeded_rand_is_a_warning() -> None:
    """The seed is set, but which row gets which number depends on their order."""
    assert found(plan(RAND.format(7)), plan(RAND.format(7))) == [("rand", "column sample", False)]


def test_without_a_second_plan_a_rand_is_taken_for_unseeded() -> None:
    """Alone, a plan cannot show that its seed was meant."""
    assert found(plan(RAND.format(7))) == [("rand", "column sample", True)]


CHANCE = (
    "Project [id#0L, uuid(Some({0})) AS key#15, randstr(5, {0}, true) AS r#16, "
    "uniform(1, 9, {0}, true) AS un#17, shuffle(array(1, 2), Some({0})) AS sh#18, "
    "monotonically_increasing_id() AS n#30L, spark_partition_id() AS p#31]"
)


def test_chance_and_placement_are_refused_with_their_columns() -> None:
    """Random keys, samples and shuffles, and numbers that depend on where a row lies (C2)."""
    first, second = (plan(CHANCE.format(seed)) for seed in (-7749498452504562179, 378091558366))
    assert found(first, second) == [
        ("uuid", "column key", True),
        ("randstr", "column r", True),
        ("uniform", "column un", True),
        ("shuffle", "column sh", True),
        ("monotonically_increasing_id", "column n", True),
        ("spark_partition_id", "column p", True),
    ]


def test_functions_that_depend_on_row_order_are_warnings() -> None:
    """`first` and `collect_list` may be right on sorted or single rows: said, not refused."""
    node = (
        "Aggregate [region#2L], [region#2L, first(id#0L, false) AS one#28L, "
        "collect_list(id#0L, 0, 0) AS ids#29]"
    )
    assert found(plan(node)) == [
        ("first", "column one", False),
        ("collect_list", "column ids", False),
    ]


STAMPED = "Project [id#0L, 2026-04-25 01:02:03.000004 AS loaded_at#23, x AS other#24]"
STAMPED_LATER = "Project [id#0L, 2027-05-31 06:19:44.120000 AS loaded_at#25, x AS other#26]"


def test_pythons_own_clock_is_found_by_building_the_plan_twice() -> None:
    """A literal that moved with the clock is told with its column and both values."""
    (item,) = hidden_inputs(plan(STAMPED), plan(STAMPED_LATER))
    assert (item.function, item.place, item.refused) == ("python", "column loaded_at", True)
    assert "2026-04-25 01:02:03.000004 became 2027-05-31 06:19:44.120000" in item.fix


def test_pythons_clock_in_a_filter_is_named_as_one() -> None:
    """A cutoff computed from `datetime.now()` fills no column."""
    first = plan("Filter (ordered_at#1 > 2026-06-01 01:02:03)")
    second = plan("Filter (ordered_at#9 > 2027-06-01 01:02:03)")
    assert found(first, second) == [("python", "a filter", True)]


def test_expression_ids_are_not_differences() -> None:
    """The same plan built twice has other ids everywhere, and nothing else."""
    first = plan("Project [id#0L, x AS other#24, _nondeterministic#43]\n+- CTERelationRef 0, true")
    second = plan("Project [id#7L, x AS other#88, _nondeterministic#51]\n+- CTERelationRef 3, true")
    assert found(first, second) == []


@pytest.mark.parametrize(
    "chance",
    [
        "rand(7) AS sample#12",
        "uuid(Some({0})) AS key#12",
        "randstr(5, {0}, true) AS r#12",
        "uniform(1, 9, {0}, true) AS n#12",
        "shuffle(array(1, 2), Some({0})) AS sh#12",
    ],
)
def test_chance_in_a_plan_does_not_hide_pythons_clock(chance: str) -> None:
    """A task that may use `uuid`, or a seeded `rand`, still may not stamp its rows."""
    first = plan(STAMPED.replace("x AS other#24", chance.format(-123456789)))
    second = plan(STAMPED_LATER.replace("x AS other#26", chance.format(987654321)))
    places = [item for item in found(first, second) if item[0] == "python"]
    assert places == [("python", "column loaded_at", True)]


def test_a_number_that_is_no_seed_is_a_difference() -> None:
    """`first(2026, false)` ends like a seeded function, and is none."""
    first, second = (plan(f"Project [first({n}, false) AS y#1]") for n in (2026, 2027))
    assert ("python", "column y", True) in found(first, second)


def test_a_list_that_grows_with_the_clock_is_a_difference() -> None:
    """A longer list with the same beginning differs too."""
    first = plan("Filter region#2L IN (1,2)")
    second = plan("Filter region#2L IN (1,2,3)")
    assert found(first, second) == [("python", "a filter", True)]


def test_a_plan_that_grows_with_the_clock_is_a_difference() -> None:
    """One more branch of a union is one more hidden input."""
    first = plan("Union false, false\n:- Range (0, 3)")
    second = PlanText(
        analyzed=first.analyzed + "\n+- Range (3, 6)",
        optimized=first.optimized,
        physical=first.physical,
    )
    assert [item[0] for item in found(first, second)] == ["python"]
    assert [item[0] for item in found(second, first)] == ["python"]


def test_every_finding_says_what_to_do() -> None:
    """Clocks point to the window, chance to a key of the row, order to a total one."""
    fixes = {item.function: item.fix for item in hidden_inputs(plan(CHANCE.format(1)), None)}
    assert "surrogate_key" in fixes["uuid"]
    (clock,) = hidden_inputs(plan("Filter (a#1 > now())", "Filter true"), None)
    assert ":window_start" in clock.fix
    (order,) = hidden_inputs(plan("Aggregate [a#1], [first(b#2, false) AS c#3]"), None)
    assert "max_by" in order.fix


def test_the_snapshot_of_each_source_is_read_from_the_scan() -> None:
    """What a run read is recorded from the plan itself (D6)."""
    physical = (
        "*(1) Filter (isnotnull(at#11) AND (at#11 < 1970-01-01 00:00:03))\n"
        "+- *(1) ColumnarToRow\n"
        "   +- BatchScan lake.a.b[id#10L, at#11] "
        "IcebergScan(table=lake.a.b, schemaId=0, snapshotId=4358109269873137077, branch=null, "
        "filters=at IS NOT NULL, at < 3000000, runtimeFilters=, groupedBy=) RuntimeFilters: []\n"
        "   +- BatchScan lake.a.c[id#12L] "
        "IcebergScan(table=lake.a.c, schemaId=0, snapshotId=99, branch=null, filters=, "
        "runtimeFilters=, groupedBy=) RuntimeFilters: []\n"
    )
    text = PlanText(analyzed="", optimized="", physical=physical)
    assert text.snapshots == {"lake.a.b": "4358109269873137077", "lake.a.c": "99"}
    assert plan("Project [id#0L]").snapshots == {}


def test_a_text_without_sections_is_an_empty_plan() -> None:
    """What is not understood holds nothing, instead of failing."""
    assert PlanText.of("nothing here") == PlanText(analyzed="", optimized="", physical="")


@pytest.mark.parametrize(
    ("top", "key", "unique"),
    [
        ("Aggregate [region#2L], [region#2L, count(1) AS c#3L]", ["region"], True),
        ("Aggregate [region#2L], [region#2L AS area#4L, count(1) AS c#3L]", ["area", "c"], True),
        ("Aggregate [a#1, b#2], [a#1, b#2, sum(x#3) AS s#4]", ["A", "b"], True),
        ("Aggregate [a#1, b#2], [a#1, b#2, sum(x#3) AS s#4]", ["a"], False),
        ("Aggregate [a#1, b#2], [a#1, sum(x#3) AS s#4]", ["a"], False),
        ("Aggregate [a#1], [cast(a#1 as int) AS a#5, count(1) AS c#3L]", ["a"], False),
        ("Aggregate [count(1) AS c#3L]", ["c"], False),
        ("Project [a#1]\n+- Aggregate [a#1], [a#1]", ["a"], False),
        ("Aggregate [a#1], [a#1]", ["a b"], False),
    ],
)
def test_a_result_grouped_by_its_key_needs_no_second_look(
    top: str, key: list[str], unique: bool
) -> None:
    """Only where every grouping column is a plain column of the key can no key repeat."""
    assert grouped_by(plan("Project [id#0L]", top), key) is unique


READ = "+- RelationV2[id#0L, at#1] lake.shop.orders"


@pytest.mark.parametrize(
    ("optimized", "cheap"),
    [
        ("RelationV2[id#0L] lake.shop.orders", True),
        (f"Project [id#0L]\n+- Filter (at#1 >= 2026-04-25)\n   {READ}", True),
        (f"Aggregate [id#0L], [id#0L]\n{READ}", False),
        (f"Join Inner, (id#0L = id#2L)\n:- Project [id#0L]\n:  {READ}\n{READ}", False),
        (f"Project [id#0L, u#3]\n+- ArrowEvalPython [f(id#0L)#2], [u#3]\n   {READ}", False),
        ("Relation [id#0L] JDBCRelation((SELECT 1) t) [numPartitions=4]", False),
        ("", False),
    ],
)  # fmt: skip
def test_what_is_only_picked_is_cheap_to_repeat(optimized: str, cheap: bool) -> None:
    """Groups, joins, Python and databases are asked once."""
    assert cheap_to_repeat(plan("Project [id#0L]", optimized)) is cheap
