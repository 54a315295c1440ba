"""A thousand files of the size that pipelines have, the same each time.

A quarter of each kind, 50 to 400 lines, a fifth of them comments and blanks as people leave them.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

AREAS = ("finance", "growth", "logistics", "support", "catalog", "payments", "risk", "ads")
NOUNS = ("orders", "refunds", "sessions", "invoices", "shipments", "tickets", "visits", "payouts")
# How often a comment stands above a line.
NOTED = 0.15
COLUMNS = (
    "customer_id", "amount", "currency", "region", "channel", "status", "created_at", "updated_at",
    "campaign", "device", "country", "warehouse", "sku", "quantity", "discount", "tax", "shipping",
    "carrier", "priority", "score", "segment", "tier", "balance", "fee", "margin", "cost",
)  # fmt: skip


def write_files(folder: Path, *, count: int, seed: int = 7) -> int:
    """Write the files; returns how many bytes they hold."""
    makers: list[tuple[str, Callable[[random.Random, int], str]]] = [
        ("sql", sql_script),
        ("dbt", dbt_model),
        ("airflow", airflow_dag),
        ("pyspark", pyspark_job),
    ]
    chance = random.Random(seed)  # noqa: S311 - the same files each time
    written = 0
    (folder / "dbt").mkdir(parents=True)
    (folder / "dbt" / "dbt_project.yml").write_text(
        "name: shop\nversion: '1.0'\nmodel-paths: [models]\n"
        "models:\n  shop:\n    +materialized: view\n"
    )
    for number in range(count):
        kind, make = makers[number % len(makers)]
        text = make(chance, number)
        suffix = "sql" if kind in {"sql", "dbt"} else "py"
        inner = "dbt/models" if kind == "dbt" else kind
        place = folder / inner / AREAS[number // 4 % len(AREAS)] / f"load_{number:04d}.{suffix}"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
        written += len(text)
    return written


def select_block(chance: random.Random, number: int, *, lines: int) -> str:
    """A SELECT with joins, a window function and many columns."""
    noun = chance.choice(NOUNS)
    columns: list[str] = []
    while len(columns) < lines:
        column = chance.choice(COLUMNS)
        note = (
            f"    -- {column}: as {chance.choice(AREAS)} counts it\n"
            if chance.random() < NOTED
            else ""
        )
        shape = chance.randrange(5)
        name = f"{column}_{len(columns)}"
        columns.append(
            note
            + (
                f"    COALESCE(o.{column}, 0) AS {name}",
                f"    CASE WHEN o.{column} IS NULL THEN 'none' ELSE 'some' END AS {name}",
                f"    SUM(o.{column}) OVER (PARTITION BY o.customer_id ORDER BY o.id) AS {name}",
                f"    CAST(o.{column} AS DECIMAL(18, 2)) * (1 + c.{column}) AS {name}",
                f"    o.{column} AS {name}",
            )[shape]
        )
    return (
        "SELECT\n" + ",\n".join(columns) + f"\nFROM raw.{noun}_{number % 50} AS o\n"
        f"LEFT JOIN ref.customers AS c ON c.customer_id = o.customer_id\n"
        f"LEFT JOIN ref.{chance.choice(NOUNS)}_types AS t ON t.id = o.type_id\n"
        f"WHERE o.status <> 'void'\n  AND o.amount > {chance.randrange(100)}\n"
    )


def sql_script(chance: random.Random, number: int) -> str:
    """A script of several statements; some guarded, some not."""
    table = f"mart.{chance.choice(NOUNS)}_{number}"
    parts = [f"-- {table}: a nightly load\n"]
    for step in range(chance.randrange(1, 6)):
        block = select_block(chance, number + step, lines=chance.randrange(12, 60))
        shape = chance.randrange(4)
        if shape == 0:
            parts.append(
                f"BEGIN;\nDELETE FROM {table} WHERE day = '2024-01-01';\n"
                f"INSERT INTO {table}\n{block};\nCOMMIT;\n"
            )
        elif shape == 1:
            parts.append(f"INSERT INTO {table}\n{block};\n")
        elif shape == 2:
            parts.append(f"CREATE TEMP TABLE step_{step} AS\n{block};\n")
        else:
            parts.append(f"INSERT INTO {table}\n{block}  AND o.created_at >= CURRENT_DATE - 1;\n")
    return "\n".join(parts)


def dbt_model(chance: random.Random, number: int) -> str:
    """An incremental or plain model with common table expressions."""
    config = chance.choice(
        (
            "{{ config(materialized='table') }}",
            "{{ config(materialized='incremental') }}",
            "{{ config(materialized='incremental', unique_key='order_id') }}",
        )
    )
    names, parts = [], [config + "\n\nWITH"]
    for step in range(chance.randrange(2, 6)):
        noun = chance.choice(NOUNS)
        names.append(f"{noun}_{step}")
        block = select_block(chance, number + step, lines=chance.randrange(8, 40))
        block = block.replace(f"raw.{noun}_", "raw.x_").replace(
            "FROM raw.", "FROM {{ source('raw', 'events') }} -- "
        )
        parts.append(f"{names[-1]} AS (\n{block}),\n")
    last = parts.pop().rstrip(",\n")
    parts.append(last + "\n")
    parts.append(f"SELECT * FROM {names[-1]}\n")
    parts.append(
        "{% if is_incremental() %}\nWHERE created_at_0 > "
        "(SELECT MAX(created_at_0) FROM {{ this }})\n{% endif %}\n"
    )
    return "\n".join(parts)


def airflow_dag(chance: random.Random, number: int) -> str:
    """A DAG with SQL in strings and Python callables."""
    lines = [
        '"""A nightly DAG."""',
        "from datetime import datetime, timedelta",
        "",
        "from airflow import DAG",
        "from airflow.operators.python import PythonOperator",
        "from airflow.providers.postgres.hooks.postgres import PostgresHook",
        "",
        f'TABLE = "mart.{chance.choice(NOUNS)}_{number}"',
        "",
    ]
    names = []
    for step in range(chance.randrange(3, 9)):
        name = f"load_{chance.choice(NOUNS)}_{step}"
        names.append(name)
        block = select_block(chance, number + step, lines=chance.randrange(4, 24))
        day = chance.choice(('"{{ ds }}"', "datetime.now().date()", 'context["ds"]'))
        regions = chance.choice(("('eu', 'us', 'apac')", "context['regions']", "regions()"))
        lines += [
            f"def {name}(**context):",
            f'    """Load step {step}."""',
            '    hook = PostgresHook("warehouse")',
            f"    day = {day}",
            "    rows = 0",
            f"    for region in {regions}:",
            "        if region == 'apac' and rows:",
            "            continue",
            '        sql = f"""',
            f"INSERT INTO {{TABLE}}\n{block}  AND o.day = '{{day}}' AND o.region = '{{region}}'",
            '"""',
            "        hook.run(sql)",
            "        rows += 1",
            "    return rows",
            "",
            "",
        ]
    lines += [
        "with DAG(",
        f'    "nightly_{number}",',
        '    schedule="@daily",',
        "    start_date=datetime(2024, 1, 1),",
        '    default_args={"retries": 2, "retry_delay": timedelta(minutes=5)},',
        ") as dag:",
    ]
    lines += [f'    {n} = PythonOperator(task_id="{n}", python_callable={n})' for n in names]
    lines.append("    " + " >> ".join(names))
    return "\n".join(lines) + "\n"


def pyspark_job(chance: random.Random, number: int) -> str:
    """A job of DataFrame calls that writes at its end."""
    lines = [
        '"""A Spark job."""',
        "import sys",
        "",
        "from pyspark.sql import SparkSession",
        "from pyspark.sql import functions as F",
        "",
        "",
        "def main(day):",
        '    spark = SparkSession.builder.appName("load").getOrCreate()',
    ]
    for step in range(chance.randrange(3, 14)):
        noun = chance.choice(NOUNS)
        lines += [
            f'    {noun}_{step} = spark.table("raw.{noun}")',
            f'    {noun}_{step} = {noun}_{step}.where(F.col("day") == day)',
        ]
        for _ in range(chance.randrange(6, 20)):
            column, frame = chance.choice(COLUMNS), f"{noun}_{step}"
            if chance.random() < NOTED:
                lines += ["", f"    # {column}: as {chance.choice(AREAS)} counts it"]
            lines.append(
                f"    {frame} = {frame}."
                + chance.choice(
                    (
                        f'withColumn("{column}", F.coalesce(F.col("{column}"), F.lit(0)))',
                        f'withColumn("{column}_usd", F.col("{column}") * F.col("rate"))',
                        f'withColumnRenamed("{column}", "{column}_raw")',
                        f'drop("{column}_old")',
                    )
                )
            )
        mode = chance.choice(("append", "overwrite", "append"))
        lines.append(
            f'    {noun}_{step}.write.mode("{mode}").saveAsTable("mart.{noun}_{number}_{step}")'
        )
        lines.append("")
    lines += ["", 'if __name__ == "__main__":', "    main(sys.argv[1])"]
    return "\n".join(lines) + "\n"
