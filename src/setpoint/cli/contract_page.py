"""A contract as a page, in Markdown and in HTML. Pure: a contract in, a text out."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from setpoint.model.contract import Contract

MARKS = re.compile(r"([\\`*_{}\[\]<>#|~])")
BREAKS = re.compile(r"[\x00-\x1f\x7f\u0085\u2028\u2029]+")
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem }
article + article { border-top: 1px solid #8888; margin-top: 3rem }
h2 { font-size: 1rem; margin: 1.2rem 0 0 }
ul { margin: 0; padding-left: 1.2rem }
"""


def markdown(contracts: Sequence[Contract]) -> str:
    """The contracts as Markdown, one after another."""
    return "\n".join("\n".join(_markdown(contract)) for contract in contracts)


def html_page(contracts: Sequence[Contract]) -> str:
    """The contracts as one page that loads nothing and runs nothing."""
    title = contracts[0].task if len(contracts) == 1 else "Contracts"
    body = "".join("".join(_html(contract)) for contract in contracts)
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f"<title>{_escaped(title)}</title>\n<style>{STYLE}</style>\n</head>\n"
        f"<body>\n{body}</body>\n</html>\n"
    )


def _markdown(contract: Contract) -> Iterator[str]:
    yield f"# {_marked(contract.task)}\n"
    if contract.about:
        yield f"{_marked(contract.about)}\n"
    for heading, lines in contract.sections:
        yield f"**{heading}**\n"
        yield from (f"- {_marked(line)}" for line in lines)
        yield ""


def _html(contract: Contract) -> Iterator[str]:
    yield f"<article>\n<h1>{_escaped(contract.task)}</h1>\n"
    if contract.about:
        yield f"<p>{_escaped(contract.about)}</p>\n"
    for heading, lines in contract.sections:
        items = "".join(f"<li>{_escaped(line)}</li>" for line in lines)
        yield f"<h2>{_escaped(heading)}</h2>\n<ul>{items}</ul>\n"
    yield "</article>\n"


def _one_line(text: str) -> str:
    """A name may hold anything; a line of a page stays one line."""
    return BREAKS.sub(" ", text)


def _marked(text: str) -> str:
    return MARKS.sub(r"\\\1", _one_line(text))


def _escaped(text: str) -> str:
    return html.escape(_one_line(text), quote=True)
