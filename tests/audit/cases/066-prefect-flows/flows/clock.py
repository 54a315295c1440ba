import pendulum
from prefect import flow, task


@task
def pull(client, sink):
    since = pendulum.now("UTC").subtract(hours=1)
    sink.replace_range(since, client.orders(since=since))


@flow
def hourly(client, sink):
    pull(client, sink)
