"""Effects as they are declared with a task: every fault is told when the file is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.project_folder import ProjectFolder

SLACK = 'slack: {url: "${HOOK}", text: "{rows} rows"}'


def test_a_header_declares_effects_by_name_and_receiver(folder: ProjectFolder) -> None:
    """The words are those of the Python functions."""
    folder.sql(
        "orders",
        "effects:\n"
        f"  posted: {{{SLACK}}}\n"
        "  told: {http: {url: 'https://a.example/{id}', each: id, backoff: {first: 2}}}",
    )
    posted, told = folder.task().effects
    assert (posted.name, posted.kind, posted.honours_key) == ("posted", "slack", False)
    assert (told.each, told.honours_key, told.terms.backoff.first) == (("id",), True, 2)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("effects: [posted]", "must map"),
        ("effects: {posted: slack}", "no receiver"),
        ("effects: {posted: {pigeon: {}}}", "no receiver"),
        ("effects: {posted: {slack: {text: x}}}", "url"),
        ("effects: {posted: {slack: {url: 'https://h.example/x', text: x}}}", "written out"),
        ("effects: {posted: {http: {url: 'https://h.example/', colour: red}}}", "colour"),
        ("effects: {'a b': {http: {url: 'https://h.example/'}}}", "name"),
    ],
)
def test_a_header_that_makes_no_effect_is_a_fault(
    folder: ProjectFolder, more: str, words: str
) -> None:
    """With the file, and what to write instead."""
    folder.sql("orders", more)
    (fault,) = folder.faults()
    assert words in fault.message
    assert str(fault.path) == "pipelines/orders.sql"


@pytest.mark.parametrize(
    ("effects", "words"),
    [
        ("'posted'", "must be a list of effects"),
        ("['posted']", "is not an effect"),
        ("[call('a', print), call('a', print)]", "two effects are called 'a'"),
    ],
)
def test_a_decorator_that_makes_no_effect_is_a_fault(
    folder: ProjectFolder, effects: str, words: str
) -> None:
    """Told before anything runs."""
    path = folder.python(f"effects={effects}")
    path.write_text("from setpoint import call\n" + path.read_text())
    assert any(words in fault.message for fault in folder.faults())


def test_a_task_with_declared_effects_may_retry_by_itself(folder: ProjectFolder) -> None:
    """The outbox guards them: another attempt sends nothing twice (F2)."""
    path = folder.python("retries=3, effects=[call('a', print)]")
    path.write_text("from setpoint import call\n" + path.read_text())
    task = folder.task()
    assert (task.retry.retries, [effect.name for effect in task.effects]) == (3, ["a"])


def test_words_of_an_effect_do_not_make_the_data_stale(folder: ProjectFolder) -> None:
    """The fingerprint is of what makes the rows."""
    folder.sql("orders", f"effects: {{posted: {{{SLACK}}}}}")
    first = folder.task().fingerprint
    folder.sql("orders", f"effects: {{posted: {{{SLACK.replace('rows', 'ds')}}}}}")
    assert folder.task().fingerprint == first


@pytest.mark.parametrize(
    ("body", "act"),
    [
        ("import smtplib\n    smtplib.SMTP('m').sendmail('a', 'b', 'c')", "smtplib.sendmail"),
        ("_tell()", "smtplib.send_message"),
    ],
)
def test_an_effect_in_the_tasks_own_code_keeps_it_from_retrying(
    folder: ProjectFolder, body: str, act: str
) -> None:
    """Refused with what to do: declared, it is sent once (F2)."""
    path = folder.python("retries=3")
    head = "import smtplib\n\ndef _tell():\n    smtplib.SMTP('m').send_message(None)\n\n"
    path.write_text(head + path.read_text().replace("return None", body + "\n    return None"))
    (fault,) = folder.faults()
    assert act in fault.message
    assert "effects=[…]" in (fault.fix or "")


def test_a_task_that_only_reads_outside_may_retry(folder: ProjectFolder) -> None:
    """Asking is no effect."""
    path = folder.python("retries=3")
    asks = "import requests\n    requests.get('x').json().get('post')\n    return None"
    path.write_text(path.read_text().replace("return None", asks))
    assert folder.task().retry.retries == 3
