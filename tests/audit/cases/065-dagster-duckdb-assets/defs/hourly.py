import dagster as dg
import pandas as pd

hourly = dg.HourlyPartitionsDefinition(start_date="2024-01-01-00:00")


@dg.asset(partitions_def=hourly)
def tickets(context: dg.AssetExecutionContext) -> None:
    start, end = context.partition_time_window
    rows = pd.read_parquet("raw/tickets", filters=[("at", ">=", start), ("at", "<", end)])
    rows.to_parquet(f"lake/tickets/day={start:%Y-%m-%d}/data.parquet")


@dg.asset(partitions_def=hourly)
def tickets_hour(context: dg.AssetExecutionContext) -> None:
    start, end = context.partition_time_window
    rows = pd.read_parquet("raw/tickets", filters=[("at", ">=", start), ("at", "<", end)])
    rows.to_parquet(f"lake/tickets_h/{start:%Y-%m-%d-%H}.parquet")
