import dagster as dg
from dagster_duckdb import DuckDBResource

daily = dg.DailyPartitionsDefinition(start_date="2024-01-01")


@dg.asset(partitions_def=daily)
def rides_append(context: dg.AssetExecutionContext, database: DuckDBResource):
    day = context.partition_key
    with database.get_connection() as conn:
        conn.execute(f"insert into rides select * from read_parquet('raw/{day}.parquet')")


@dg.asset(partitions_def=daily)
def rides_replace(context: dg.AssetExecutionContext, database: DuckDBResource):
    day = context.partition_key
    with database.get_connection() as conn:
        conn.execute("begin")
        conn.execute(f"delete from rides_clean where day = '{day}'")
        conn.execute(f"insert into rides_clean select * from rides where day = '{day}'")
        conn.execute("commit")


@dg.asset
def zones(database: DuckDBResource):
    with database.get_connection() as conn:
        conn.execute("create or replace table zones as select * from read_csv_auto('zones.csv')")


@dg.asset(partitions_def=daily, retry_policy=dg.RetryPolicy(max_retries=3))
def fares(context: dg.AssetExecutionContext, database: DuckDBResource):
    with database.get_connection() as conn:
        conn.execute(f"insert into fares select * from read_json('raw/fares-{context.partition_key}.json')")


@dg.asset(retry_policy=dg.RetryPolicy(max_retries=3))
def cities(zones_raw):
    return zones_raw[["city"]].drop_duplicates()
