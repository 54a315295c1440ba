"""Clues in the text of a task: clocks, chance, environment, effects. Pure: text in, clues out."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from setpoint.verifying.cause import WORDS, Clue

if TYPE_CHECKING:
    from collections.abc import Iterator

# The end of a dotted name → the kind of clue.
CALLS = {
    "clock": (
        "datetime.now", "datetime.utcnow", "datetime.today", "date.today", "time.time",
        "time.time_ns", "time.localtime", "time.gmtime", "time.strftime", "time.ctime",
        "Timestamp.now", "Timestamp.today", "pendulum.now", "pendulum.today", "arrow.now",
        "arrow.utcnow", "monotonic", "perf_counter",
    ),
    "uuid": ("uuid.uuid4", "uuid.uuid1", "uuid4", "uuid1"),
    "chance": (
        "random.random", "random.randint", "random.choice", "random.choices", "random.sample",
        "random.shuffle", "random.uniform", "random.gauss", "random.randrange", "random.rand",
        "random.randn", "random.normal", "default_rng", "secrets.token_hex", "secrets.choice",
        "secrets.randbelow", "os.urandom", "getrandbits",
    ),
    "effect": (
        "requests.post", "requests.put", "requests.patch", "requests.delete", "httpx.post",
        "httpx.put", "smtplib.SMTP", "sendmail", "send_message", "urllib.request.urlopen",
        "chat_postMessage", "subprocess.run", "subprocess.Popen", "os.system", "webhook.send",
    ),
    "state": (
        "open", "read_text", "write_text", "pickle.load", "pickle.dump", "itertools.count",
        "shelve.open", "sqlite3.connect",
    ),
    "row order": (
        "first", "last", "collect_list", "collect_set", "any_value", "row_number", "limit",
        "dropDuplicates", "drop_duplicates", "monotonically_increasing_id", "zipWithIndex",
        "lag", "lead", "head", "take", "listagg", "string_agg", "ntile", "applyInPandas",
        "mapInPandas", "spark_partition_id", "input_file_name", "repartition",
    ),
}  # fmt: skip
WORKERS = (
    "udf",
    "pandas_udf",
    "applyInPandas",
    "mapInPandas",
    "mapInArrow",
    "applyInArrow",
    "udtf",
)
HASHES = ("hash", "set", "frozenset")
SQL_CALLS = {
    "clock": r"\b(current_date|current_timestamp|now|localtimestamp|curdate)\b",
    "uuid": r"\buuid\s*\(",
    "chance": r"\b(rand|randn|random|randstr|uniform|shuffle)\s*\(",
    "row order": r"\b(first|last|any_value|first_value|last_value|collect_list|collect_set"
    r"|row_number|listagg|string_agg|array_agg|monotonically_increasing_id|lag|lead|ntile)\s*\("
    r"|\blimit\s+\d",
}


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What the text of a task tells."""

    clues: tuple[Clue, ...] = ()
    in_workers: tuple[Clue, ...] = ()
    """Clues inside functions that Spark's workers call, where no clock can be moved."""
    variables: tuple[str, ...] = ()
    """Environment variables read by name."""


def read_python(text: str, *, path: str, first_line: int = 1) -> Reading:
    """The clues in a piece of Python: a function, or a whole file."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return Reading()
    inside = _worker_nodes(tree)
    clues: list[Clue] = []
    workers: list[Clue] = []
    variables: dict[str, None] = {}
    for node in ast.walk(tree):
        variable = _variable(node)
        if variable is not None:
            variables.setdefault(variable)
        for kind, words in _kinds(node):
            clue = Clue(
                kind=kind,
                words=f"{words}: {WORDS[kind]}",
                where=f"{path}:{first_line - 1 + getattr(node, 'lineno', 1)}",
            )
            if id(node) in inside and kind in ("clock", "uuid", "chance", "environment", "state"):
                clue = replace(clue, words=f"{words}, in a function that Spark's workers call: "
                               f"{WORDS[kind]}")  # fmt: skip
                workers.append(clue)
            clues.append(clue)
    return Reading(
        clues=tuple(clues), in_workers=tuple(workers), variables=tuple(name for name in variables)
    )


def read_sql(text: str, *, path: str, first_line: int = 1) -> Reading:
    """The clues in a SELECT."""
    clues = []
    for number, line in enumerate(text.splitlines()):
        code = line.partition("--")[0]
        for kind, pattern in SQL_CALLS.items():
            found = re.search(pattern, code, re.IGNORECASE)
            if found:
                name = found[0].rstrip("( ")
                where = f"{path}:{first_line + number}"
                clues.append(Clue(kind=kind, words=f"{name}: {WORDS[kind]}", where=where))
    return Reading(clues=tuple(clues))


def joined(readings: list[Reading]) -> Reading:
    """Several pieces of one task's code as one."""
    return Reading(
        clues=tuple(clue for each in readings for clue in each.clues),
        in_workers=tuple(clue for each in readings for clue in each.in_workers),
        variables=tuple(dict.fromkeys(name for each in readings for name in each.variables)),
    )


def _kinds(node: ast.AST) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Call):
        yield from _call_kinds(node, _dotted(node.func))
    elif isinstance(node, (ast.Set, ast.SetComp)):
        yield "hash order", "a set"
    elif isinstance(node, (ast.Global, ast.Nonlocal)):
        yield "state", f"global {', '.join(node.names)}"
    elif isinstance(node, ast.AugAssign) and isinstance(
        node.target, (ast.Attribute, ast.Subscript)
    ):
        yield "state", f"{_dotted(node.target)} is counted up"
    elif isinstance(node, ast.Attribute) and _dotted(node) in ("os.environ", "environ"):
        yield "environment", "os.environ"


def _call_kinds(node: ast.Call, name: str) -> Iterator[tuple[str, str]]:
    for kind, known in CALLS.items():
        if _ends(name, known):
            yield kind, name.removeprefix("F.")
    if name in HASHES:
        yield "hash order", f"{name}(…)"
    if name == "next":
        yield "state", name
    if _ends(name, ("getenv",)) or name.startswith("locale."):
        yield "environment", name
    local = not node.args if _ends(name, ("astimezone",)) else len(node.args) == 1
    if _ends(name, ("astimezone", "fromtimestamp")) and local and not node.keywords:
        yield "environment", f"{name} without a zone"


def _ends(name: str, known: tuple[str, ...]) -> bool:
    return any(name == each or name.endswith(f".{each}") for each in known)


def _variable(node: ast.AST) -> str | None:
    """The name of an environment variable that a node reads."""
    found: ast.expr | None = None
    if isinstance(node, ast.Subscript) and _ends(_dotted(node.value), ("environ",)):
        found = node.slice
    elif isinstance(node, ast.Call) and _ends(_dotted(node.func), ("environ.get", "getenv")):
        found = node.args[0] if node.args else None
    if isinstance(found, ast.Constant) and isinstance(found.value, str):
        return found.value
    return None


def _worker_nodes(tree: ast.AST) -> set[int]:
    """The nodes inside functions that are handed to Spark's workers."""
    handed: set[str] = set()
    bodies: list[ast.AST] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _ends(_dotted(node.func), WORKERS):
            handed |= {each.id for each in node.args if isinstance(each, ast.Name)}
            bodies += [each for each in node.args if isinstance(each, ast.Lambda)]
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            marks = [
                each.func if isinstance(each, ast.Call) else each for each in node.decorator_list
            ]
            if node.name in handed or any(_ends(_dotted(mark), WORKERS) for mark in marks):
                bodies.append(node)
    return {id(inner) for body in bodies for inner in ast.walk(body)}


def _dotted(node: ast.AST) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        before = _dotted(node.value)
        return f"{before}.{node.attr}" if before else node.attr
    if isinstance(node, ast.Call):
        return _dotted(node.func)
    if isinstance(node, ast.Subscript):
        return _dotted(node.value)
    return ""
