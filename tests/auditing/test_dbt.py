"""dbt: incremental models, arms, hooks, macros, project files, snapshots."""

from __future__ import annotations

import pytest
from tests.auditing.asking import audit, rules, spots

from setpoint.auditing.dbt.jinja import mask, read_config

PROJECT = "name: shop\nmodels:\n  shop:\n    marts:\n      +materialized: incremental\n"


def model(config: str, body: str = "select * from {{ ref('a') }}") -> dict[str, str]:
    """A repository of one model."""
    return {"models/m.sql": f"{{{{ config({config}) }}}}\n{body}\n"}


APPENDS = {
    "no key": "materialized='incremental'",
    "append": "materialized='incremental', unique_key='id', incremental_strategy='append'",
    "merge without a key": "materialized='incremental', incremental_strategy='merge'",
    "delete+insert without a key": (
        "materialized='incremental', incremental_strategy='delete+insert'"
    ),
    "key none": "materialized='incremental', unique_key=none",
}
SETS = {
    "key": "materialized='incremental', unique_key='id'",
    "keys": "materialized='incremental', unique_key=['id', 'day']",
    "microbatch": "materialized='incremental', incremental_strategy='microbatch'",
    "static partitions": (
        "materialized='incremental', incremental_strategy='insert_overwrite', partitions=days"
    ),
    "table": "materialized='table'",
    "a hook that clears": (
        "materialized='incremental', pre_hook=\"delete from {{ this }} where d = '{{ var('ds') "
        "}}'\""
    ),
}


@pytest.mark.parametrize("config", APPENDS.values(), ids=APPENDS.keys())
def test_incremental_models_that_append(config: str) -> None:
    """Without a key, or by its strategy, the model only adds rows."""
    assert rules(model(config)) == {"W08"}


@pytest.mark.parametrize("config", SETS.values(), ids=SETS.keys())
def test_models_that_set_their_rows(config: str) -> None:
    """A key, a partition or a whole table is set, however often it is built."""
    assert rules(model(config)) == set()


def test_an_anti_join_on_this_is_a_guard() -> None:
    """The model asks itself what it has."""
    body = "select * from {{ ref('a') }} where id not in (select id from {{ this }})"
    assert rules(model("materialized='incremental'", body)) == set()


def test_dynamic_overwrite_of_partitions() -> None:
    """insert_overwrite without named partitions keeps a day that became empty."""
    config = "materialized='incremental', incremental_strategy='insert_overwrite'"
    assert rules(model(config)) == {"W03"}


def test_settings_come_from_the_project_and_from_properties() -> None:
    """A folder's default makes the model incremental; a properties file gives it a key."""
    files = {
        "dbt_project.yml": PROJECT,
        "models/marts/a.sql": "select 1 as id",
        "models/marts/b.sql": "select 1 as id",
        "models/marts/b.yml": "models:\n  - name: b\n    config: {unique_key: id}\n",
    }
    assert spots(files) == [("W08", 1)]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("select * from t where d >= current_date - 3", {"T01"}),
        ("select * from t where d >= {{ dbt.current_timestamp() }}", {"T01"}),
        ("select * from t where d >= '{{ run_started_at }}'", {"T01"}),
        ("{% set d = run_started_at %} select * from t where d > '{{ d }}'", {"T01"}),
        ("select * from t {% if is_incremental() %} where d > now() {% endif %}", {"T01"}),
        (
            "select * from t {% if var('d') %} where d = 1 {% else %} where d = now() {% endif %}",
            {"T01"},
        ),
        ("select * from t {% if not is_incremental() %} where d > now() {% endif %}", set()),
        (
            (
                "select * from t {% if is_incremental() %} where d > 1 {% else %} where d > now()"
                " {% endif %}"
            ),
            set(),
        ),
        ("select * from t {% if target.name == 'dev' %} where d > now() {% endif %}", set()),
        ("{# where d = now() #} select * from t", set()),
        ("select *, now() as loaded_at from t", set()),
        ("select * from t where d >= '{{ var('ds') }}'", set()),
        ("select * from t where d > '{{ env_var('START') }}'", {"E01"}),
        ("select {{ dbt_utils.star(ref('a')) }}, uuid_string() as id from t", {"R02"}),
    ],
)
def test_clocks_in_models(body: str, found: set[str]) -> None:
    """A clock counts where it filters in production, not on the first build or in dev."""
    assert rules(model("materialized='table'", body)) == found


def test_a_macro_that_hides_a_clock_is_a_clock() -> None:
    """A macro of the project is looked into."""
    files = {
        "dbt_project.yml": "name: shop\n",
        "macros/recent.sql": "{% macro recent(n) %} current_date - {{ n }} {% endmacro %}",
        "models/m.sql": "select * from t\nwhere d >= {{ recent(3) }}\n",
    }
    assert spots(files) == [("T01", 2)]


def test_a_hook_that_appends() -> None:
    """A post-hook that adds rows elsewhere is W01 at the config; one that logs is not."""
    assert rules(model("post_hook='insert into mart.t select a from {{ this }}'")) == {"W01"}
    assert rules(model("post_hook='insert into etl_log select a from {{ this }}'")) == set()


def test_a_snapshot_on_a_mutable_key() -> None:
    """A snapshot's key must last as well."""
    text = (
        "{% snapshot s %}{{ config(unique_key='email', strategy='check') }} select 1 {% "
        "endsnapshot %}"
    )
    assert rules({"snapshots/s.sql": text}) == {"W06"}


def test_a_python_model_is_a_model() -> None:
    """Dbt's Python models are judged like the others."""
    text = (
        "def model(dbt, session):\n    dbt.config(materialized='incremental')\n"
        "    return dbt.ref('a').sample(0.1)\n"
    )
    assert rules({"models/m.py": text}) == {"W08", "R01"}


def test_masking_keeps_length_and_lines() -> None:
    """Whatever Jinja stands there, offsets and lines stay true."""
    text = (
        "{{ config(a='{{ x }}') }}\nselect {{ a\n }} {% if b %}\n1{% else %}2{% endif %} {# c\n #}"
    )
    masked = mask(text, macros={})
    assert len(masked.text) == len(text)
    assert [i for i, c in enumerate(masked.text) if c == "\n"] == [
        i for i, c in enumerate(text) if c == "\n"
    ]


def test_a_config_that_is_no_literal_is_still_read() -> None:
    """Variables, conditions and concatenation do not hide the settings beside them."""
    config = read_config("config(materialized='incremental' if x else 'view', alias='a' ~ v('b'))")
    assert config["materialized"] == "incremental"
    assert "v(" in str(config["alias"])


def test_models_have_lineage_and_a_verdict() -> None:
    """A model's references are its reads, its own name its write."""
    report = audit(model("materialized='table'"))
    assert [(one.reads, one.writes) for one in report.pipelines] == [(("a",), ("m",))]
