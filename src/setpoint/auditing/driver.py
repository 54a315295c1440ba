"""Carries an audit out: find files, read them, judge, and keep what was asked for."""

from __future__ import annotations

import difflib
import json
import os
import pickle
import shlex
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from setpoint.auditing.audit import judge, read_file
from setpoint.auditing.baseline import compare, read_baseline
from setpoint.auditing.cache import FactsCache, cache_folder, code_mark, facts_key
from setpoint.auditing.context import ProjectContext, build_context, wants_text
from setpoint.auditing.facts import FileFacts
from setpoint.auditing.finding import Unparsed
from setpoint.auditing.outcome import Outcome, split_lines
from setpoint.auditing.owners import find_owners
from setpoint.auditing.pool import read_all
from setpoint.auditing.reading import Job, content_digest
from setpoint.auditing.selection import selected_rules
from setpoint.auditing.source import NotText, decode
from setpoint.auditing.walk import Tree, walk
from setpoint.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from setpoint.auditing.finding import Report
    from setpoint.auditing.rule import Rule
    from setpoint.auditing.walk import FoundFile


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What a person asked an audit for."""

    paths: tuple[Path, ...]
    rules: tuple[Rule, ...]
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    dialect: str | None = None
    processes: int | None = None
    """As many as there are cores, if not said."""
    cached: bool = True
    feeds: str | None = None
    baseline: Path | None = None


@dataclass(frozen=True, kw_only=True)
class Audited:
    """An audit that was carried out."""

    root: Path
    outcome: Outcome
    texts: Mapping[str, str]
    """The texts of the files that have findings."""
    facts: tuple[FileFacts, ...]


def audit(wish: Wish, *, on_progress: Callable[[int, int], None] | None = None) -> Audited:
    """Audit the paths; nothing of what they hold is run or imported."""
    # Wrong words are told before any file is opened.
    listed = selected_rules(wish.rules, select=wish.select, ignore=wish.ignore)
    known = read_baseline(wish.baseline) if wish.baseline else ()
    tree = walk(wish.paths, working=Path.cwd(), is_setting=wants_text)
    context = build_context(
        dict(_texts(tree.settings)), paths=[file.path for file in tree.files], dialect=wish.dialect
    )
    facts = read_facts(
        tree,
        context,
        processes=wish.processes or os.cpu_count() or 1,
        cached=wish.cached,
        on_progress=on_progress or (lambda _done, _total: None),
    )
    report = _complete(judge(facts, context), tree)
    if wish.feeds:
        report = feeding(report, wish.feeds)
    findings = tuple(finding for finding in report.findings if finding.rule in listed)
    excused = tuple(one for one in report.excused if one.finding.rule in listed)
    by_path = {file.path: file for file in tree.files}
    shown = {finding.path for finding in (*findings, *(one.finding for one in excused))}
    texts = dict(_texts(by_path[path] for path in sorted(shown)))
    lines = {path: split_lines(text) for path, text in texts.items()}
    compared = compare(findings, lines, known, audited=frozenset(by_path))
    outcome = Outcome(
        report=replace(report, findings=compared.new, excused=excused),
        rules={rule.id: rule for rule in wish.rules},
        lines=lines,
        known=compared.known,
        gone=len(compared.gone),
        skipped=tree.skipped,
        asked=shlex.join(str(path) for path in wish.paths),
    )
    return Audited(root=tree.root, outcome=outcome, texts=texts, facts=tuple(facts))


def _complete(report: Report, tree: Tree) -> Report:
    """With owners, and with what was never opened."""
    owners = find_owners(tree.root)
    unparsed = sorted([*report.unparsed, *tree.unread], key=lambda item: (item.path, item.line))
    return replace(
        report,
        findings=tuple(sorted(report.findings, key=lambda f: (f.path, f.line, f.rule))),
        pipelines=tuple(replace(one, owner=owners.of(one.path)) for one in report.pipelines),
        unparsed=tuple(unparsed),
        files=len(tree.files),
    )


def feeding(report: Report, table: str) -> Report:
    """Only the pipelines upstream of a table, with what was found and not read in their files."""
    from setpoint.auditing.lineage import upstream

    kept = upstream(report, table)
    if not kept:
        raise UsageError(
            f"Nothing that was read writes {table}.",
            next_step="setpoint audit PATH --output json, and look for the table under writes",
        )
    paths = {pipeline.path for pipeline in kept}
    names = {(pipeline.path, pipeline.name) for pipeline in kept}
    return replace(
        report,
        pipelines=tuple(one for one in report.pipelines if one in kept),
        findings=tuple(one for one in report.findings if (one.path, one.pipeline) in names),
        unparsed=tuple(one for one in report.unparsed if one.path in paths),
        excused=tuple(
            one for one in report.excused if (one.finding.path, one.finding.pipeline) in names
        ),
    )


def draft_of(audited: Audited, name: str) -> str:
    """A Setpoint task that does a pipeline's work; the pipeline is named as the report names it."""
    from setpoint.auditing.draft import draft_task

    pipelines = audited.outcome.report.pipelines
    found = [one for one in pipelines if name in {one.name, one.path, f"{one.path}:{one.name}"}]
    if len(found) != 1:
        names = sorted({one.name for one in pipelines})
        near = [f"{one.path}:{one.name}" for one in found] or difflib.get_close_matches(name, names)
        meant = f" Did you mean {' or '.join(near[:3])}?" if near else ""
        many = "More than one pipeline is" if found else "No pipeline is"
        raise UsageError(
            f"{many} called {name!r}.{meant}",
            next_step="setpoint audit PATH --output json, and look under pipelines",
        )
    (pipeline,) = found
    units = (unit for file in audited.facts if file.path == pipeline.path for unit in file.units)
    return draft_task(pipeline, next((unit for unit in units if unit.name == pipeline.name), None))


def read_facts(
    tree: Tree,
    context: ProjectContext,
    *,
    processes: int,
    cached: bool,
    on_progress: Callable[[int, int], None],
) -> list[FileFacts]:
    """The facts of every file, from the cache where it knows them."""
    mark = context_mark(context)
    read = partial(read_file, context=context)
    total = len(tree.files)
    with closing(_cache(tree.root, cached=cached)) as cache:
        keys = {file.path: _key(file, mark) for file in tree.files}
        remembered = cache.get(key for key in keys.values() if key)
        facts: dict[str, FileFacts] = {}
        for path, key in keys.items():
            if key in remembered:
                facts[path] = pickle.loads(remembered[key])  # noqa: S301 - the user's own cache
        waiting = [
            Job(path=file.path, place=file.place, size=file.size)
            for file in tree.files
            if file.path not in facts
        ]
        fresh: dict[str, bytes] = {}
        try:
            for done in read_all(waiting, read, processes=processes):
                if done.facts is None:
                    facts[done.path] = _given_up(done.path, done.reason)
                else:
                    facts[done.path] = pickle.loads(done.facts)  # noqa: S301 - made by this run
                    fresh[facts_key(done.path, done.digest, context=mark)] = done.facts
                on_progress(len(facts), total)
        finally:
            # Also when it is stopped: the next audit goes on from here.
            cache.put(fresh)
    return [facts[path] for path in sorted(facts)]


def context_mark(context: ProjectContext) -> bytes:
    """What facts depend on beside their own file, as bytes that are the same in every run."""
    content = asdict(context)
    # The list of files decides nothing within a file; a new file must not make all others new.
    del content["paths"]
    return content_digest(json.dumps(content, sort_keys=True, default=str).encode())


def _cache(root: Path, *, cached: bool) -> FactsCache:
    folder = cache_folder()
    # Facts are unpickled, so they never come out of the repository that is audited.
    inside = folder.resolve().is_relative_to(root)
    return FactsCache(folder if cached and not inside else None, code_mark())


def _key(file: FoundFile, mark: bytes) -> str:
    try:
        content = file.place.read_bytes()
    except OSError:
        return ""
    return facts_key(file.path, content_digest(content), context=mark)


def _given_up(path: str, reason: str) -> FileFacts:
    return FileFacts(path=path, kind="", unparsed=(Unparsed(path=path, line=1, reason=reason),))


def _texts(files: Iterable[FoundFile]) -> Iterator[tuple[str, str]]:
    for file in files:
        text = _text(file)
        if text is not None:
            yield file.path, text


def _text(file: FoundFile) -> str | None:
    try:
        return decode(file.place.read_bytes(), python=file.path.endswith(".py")).text
    except (OSError, NotText):
        return None
