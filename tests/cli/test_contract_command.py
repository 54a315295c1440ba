"""`setpoint contract`: a page a task, for people and programs, without Spark."""

from __future__ import annotations

import json
import sys
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Shell

HOSTILE = '<script>alert(1)</script> `rm` | [x](y)\n# "day"'


@pytest.fixture
def chain(shell: Shell) -> Shell:
    """A daily task and one that reads it."""
    shell.folder.python('unique_key="order_id"')
    shell.folder.sql("revenue", "sources: {orders: {table: lake.shop.orders, event_time: day}}")
    return shell


def test_a_page_for_each_task_upstream_first(chain: Shell) -> None:
    """Markdown by default; consumers are those of the whole project; no Spark is imported."""
    loaded = "pyspark" in sys.modules
    answer = chain.type("contract")
    assert answer.code == 0
    assert [line for line in answer.out.splitlines() if line.startswith("# ")] == [
        "# orders",
        "# revenue",
    ]
    assert "**Read by**\n\n- revenue\n" in answer.out
    assert "- order\\_id (surrogate)" in answer.out
    assert ("pyspark" in sys.modules) == loaded
    assert not (chain.folder.root / ".setpoint").exists()


def test_one_task_as_a_document(chain: Shell) -> None:
    """The same facts for programs."""
    answer = chain.type("contract", "orders", "--output", "json")
    (found,) = json.loads(answer.out)["contracts"]
    assert (found["table"], found["pattern"]) == ("lake.shop.orders", "overwrite")
    assert (found["key"], found["key_kind"]) == (["order_id"], "surrogate")
    assert found["consumers"] == ["revenue"]
    assert found["effects"] == []
    assert found["verified"] is None


def test_a_file_for_each_task(chain: Shell) -> None:
    """Into a folder, to be published; each is printed as it is written."""
    for output in ("md", "html", "json"):
        answer = chain.type("contract", "--output", output, "--into", "pages")
        assert answer.out.split() == [f"pages/orders.{output}", f"pages/revenue.{output}"]
        assert "lake.shop.orders" in (chain.folder.root / f"pages/orders.{output}").read_text()


class Tags(HTMLParser):
    """The names of the tags in a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002
        """Note a tag."""
        self.found.add(tag)


def test_scenario_34_a_hostile_description_is_text_on_the_page(shell: Shell) -> None:
    """Neither a script in the HTML nor a heading or link in the Markdown."""
    shell.folder.sql("revenue", f"description: {json.dumps(HOSTILE)}")
    page = shell.type("contract", "--output", "html").out
    tags = Tags()
    tags.feed(page)
    assert "script" not in tags.found
    assert "&lt;script&gt;" in page
    text = shell.type("contract").out
    assert '\n# "day' not in text
    assert "\\[x\\]" in text


def test_a_misspelt_task_is_told_its_name(chain: Shell) -> None:
    """Exit code 2, and the task that was meant."""
    answer = chain.type("contract", "ordres")
    assert answer.code == 2
    assert "did you mean 'orders'?" in answer.err
