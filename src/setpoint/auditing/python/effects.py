"""Things done to the outside world: mail, chat posts, acting HTTP calls, published messages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from setpoint.auditing.facts import Effect
from setpoint.auditing.python.modules import spelled
from setpoint.auditing.python.values import UNKNOWN, Value

if TYPE_CHECKING:
    from setpoint.auditing.python.calls import Call
    from setpoint.auditing.python.walking import Walker

_MAIL_METHODS = frozenset(
    {"sendmail", "send_email", "send_raw_email", "send_templated_email", "send_mail"}
)
_CHAT_METHODS = frozenset(
    {"chat_postMessage", "files_upload", "files_upload_v2", "send_slack_message"}
)
_CHAT_URL = re.compile(
    r"hooks\.slack|slack|webhook\.office|office\.com/webhook|discord|telegram|/sendMessage|teams"
    r"|mattermost|chat\.googleapis|rocket\.chat|dingtalk|feishu|lark",
    re.IGNORECASE,
)
_ALERT = re.compile(
    r"fail|error|alert|exception|on_retry|(?<![a-z])sla(?![a-z])|alarm|incident|pagerduty|opsgenie"
    r"|sentry",
    re.IGNORECASE,
)
_READ_BY_POST = re.compile(
    r"graphql|/search|/query|/queries|/token|oauth|/auth|login|/session|/report|/export|/list"
    r"|/get|/fetch|/find|/lookup|/select|/scroll|_search|/sql|/analytics|/aggregate|/filter"
    r"|/batchGet|runReport|/embeddings|/completions|/predict|/geocode|/translate|/crawl|/scrape"
    r"|token_url|access_token|/generate|/chat|telemetry|tracker|usage_stat|/metrics",
    re.IGNORECASE,
)
_ACTS = re.compile(
    r"charge|payment|pay\b|invoice|refund|order|transfer|webhook|notify|notification|trigger"
    r"|create|publish|send|submit|upload|import|deploy|dispatch|/events?\b|/messages?\b|/topics?/|ingest"
    r"|push|update|sync|callback|ticket|contact|track",
    re.IGNORECASE,
)
_IDEMPOTENT = re.compile(
    r"idempoten|dedup|x-request-id|client_?token|client_reference", re.IGNORECASE
)
_PUBLISHERS = re.compile(
    r"producer|publisher|sns|sqs|pubsub|queue|topic|kinesis|eventbridge|event_?hub|service_?bus"
    r"|channel|rabbit|broker|nats|firehose|events?_client",
    re.IGNORECASE,
)
_DEDUPE_WORDS = (
    "key",
    "MessageDeduplicationId",
    "ordering_key",
    "PartitionKey",
    "message_id",
    "dedup_id",
    "partition_key",
)


def on_call(walker: Walker, call: Call) -> Value | None:
    """A call that may act on the outside world."""
    kind = _kind(walker, call)
    if not kind:
        return None
    guard = _guard(walker, call)
    own = bool(re.search(r"\bself\b", f"{_source(call)} {call.receiver_text}"))
    effect = Effect(kind=kind, spot=call.spot, text=call.text, guard=guard, own=own)
    walker.tape.effects.append(effect)
    return Value(kind="response") if kind == "post" else UNKNOWN


def _kind(walker: Walker, call: Call) -> str:
    method, dotted = call.method, call.dotted
    if method in _MAIL_METHODS or (
        method == "send_message"
        and re.search(r"smtp|server|mail", call.receiver_text, re.IGNORECASE)
    ):
        return "mail"
    if method == "send" and (
        walker.module.imported("sendgrid", "yagmail", "mailgun", "resend")
        or re.search(r"\bsg\b|sendgrid|yag|mailgun|messages\(\)$|^mail$", call.receiver_text)
    ):
        return "mail"
    if method in _CHAT_METHODS or (
        method in {"send", "post", "send_dict", "execute", "send_text"}
        and re.search(
            r"slack|webhook|teams|discord|telegram|\bbot\b", call.receiver_text, re.IGNORECASE
        )
    ):
        return "chat"
    if method in {"send_message", "sendMessage", "send_photo"} and re.search(
        r"bot|telegram|telebot", call.receiver_text, re.IGNORECASE
    ):
        return "chat"
    if (method in {"post", "put", "patch"} or _is_sent(call)) and _is_http(walker, call):
        return _http(walker, call)
    del dotted
    return _published(walker, call)


def _is_http(walker: Walker, call: Call) -> bool:
    if call.dotted.startswith(("requests.", "httpx.")):
        return True
    return (
        bool(re.search(r"\b(?:session|client|http|s|requests)\b", call.receiver_text))
        and walker.module.imported("requests", "httpx", "aiohttp")
        and not call.receiver_text.startswith(("app", "router", "self.client"))
    )


def _is_sent(call: Call) -> bool:
    """`request("POST", url)`."""
    return call.method == "request" and (call.argument(0, "method").text or "").upper() == "POST"


def _http(walker: Walker, call: Call) -> str:
    url = call.argument(int(call.method == "request"), "url")
    shown = f"{url.text or ''} {_source(call)}"
    if _CHAT_URL.search(shown):
        return "chat"
    return "post" if _acts(walker, call, shown) else ""


def _source(call: Call) -> str:

    node = call.node_of(int(call.method == "request"), "url")
    return spelled(node)[:200] if node is not None else ""


def _acts(walker: Walker, call: Call, shown: str) -> bool:
    if _READ_BY_POST.search(shown) or _READ_BY_POST.search(_body(call)):
        return False
    if call.method in {"put", "patch"}:
        # A PUT sets a state: sent twice it leaves the same one.
        return False
    return walker.is_discarded(call.node) or bool(_ACTS.search(shown))


def _body(call: Call) -> str:

    for word in call.node.keywords:
        if word.arg in {"json", "data"}:
            text = spelled(word.value)[:300]
            return (
                text
                if re.search(r"query|grant_type|sql|select|filter", text, re.IGNORECASE)
                and "/query" not in text
                else ("/query" if re.search(r"grant_type", text) else "")
            )
    return ""


def _published(walker: Walker, call: Call) -> str:
    method = call.method
    receiver = call.receiver_text
    if method in {"send", "produce", "send_and_wait"} and re.search(
        r"producer", receiver, re.IGNORECASE
    ):
        return "publish"
    if method == "publish" and _PUBLISHERS.search(receiver):
        return "publish"
    if method in {
        "send_message",
        "send_messages",
        "send_message_batch",
        "put_record",
        "put_records",
        "put_events",
        "basic_publish",
        "publish_batch",
        "send_batch",
    }:
        if method in {"send_message", "send_messages"} and not (
            _PUBLISHERS.search(receiver) or "QueueUrl" in call.keywords
        ):
            return ""
        return "publish"
    del walker
    return ""


def _guard(walker: Walker, call: Call) -> str:
    if walker.handler:
        return "an error handler"
    if walker.in_alert():
        return "an alert of a failure"
    if any(mark.kind == "random" for mark in call.marks):
        return "made-up data"
    around = walker.guard()
    if around:
        return around
    source = call.source()
    if _IDEMPOTENT.search(source):
        return "an idempotency key"
    headers = call.keywords.get("headers", UNKNOWN)
    if any(_IDEMPOTENT.search(name) for name in headers.fields):
        return "an idempotency key"
    if any(word in call.keywords and call.keywords[word].text != "None" for word in _DEDUPE_WORDS):
        return "a message key"
    if call.method in {"send", "produce"} and len(call.args) > 2:  # noqa: PLR2004 - topic, value, key
        return "a message key"
    if any(_ALERT.search(one) for one in walker.conditions):
        return "an alert of a failure"
    return ""


def is_alert_name(name: str) -> bool:
    """Whether a function's or task's name says that it tells of failures."""
    return bool(_ALERT.search(name))
