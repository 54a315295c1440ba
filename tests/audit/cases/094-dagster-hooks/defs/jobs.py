import dagster as dg
from dagster_slack import SlackResource, make_slack_on_run_failure_sensor


@dg.op
def build(context) -> int:
    return 7


@dg.op(retry_policy=dg.RetryPolicy(max_retries=2))
def announce(context, slack: SlackResource, rows: int) -> None:
    slack.get_client().chat_postMessage(channel="#data", text=f"{rows} rows")


@dg.failure_hook
def tell(context):
    context.resources.slack.chat_postMessage(channel="#oncall", text=f"{context.op.name} failed")


sensor = make_slack_on_run_failure_sensor(channel="#oncall", slack_token="x")


@dg.job
def daily():
    announce(build())
