from prefect import flow, task


@task
def write_day(frame, day):
    frame.to_parquet(f"s3://lake/clicks/day={day}/part.parquet")


@flow
def clicks(start, end, frame):
    write_day(frame[(frame["at"] >= start) & (frame["at"] < end)], start.date())


if __name__ == "__main__":
    clicks.serve(name="clicks", cron="0 * * * *")
