from datetime import datetime, timedelta

import dagster as dg
import pandas as pd

daily = dg.DailyPartitionsDefinition(start_date="2024-01-01")


@dg.asset(partitions_def=daily)
def orders_yesterday(context: dg.AssetExecutionContext) -> pd.DataFrame:
    day = datetime.now().date() - timedelta(days=1)
    return pd.read_parquet(f"raw/orders/{day}.parquet")


@dg.asset(partitions_def=daily)
def orders_partition(context: dg.AssetExecutionContext) -> pd.DataFrame:
    context.log.info("at %s", datetime.now())
    return pd.read_parquet(f"raw/orders/{context.partition_key}.parquet")
