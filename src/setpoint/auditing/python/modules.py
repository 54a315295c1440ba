"""A Python module's own names: imports, functions, classes, and where its nodes stand."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from setpoint.auditing.facts import Spot

if TYPE_CHECKING:
    from collections.abc import Iterator

FunctionNode = (ast.FunctionDef, ast.AsyncFunctionDef)


class Module:
    """What a module defines and imports."""

    def __init__(self, tree: ast.Module, text: str, first_line: int = 1) -> None:
        self.tree = tree
        self.text = text
        self.shift = first_line - 1
        self.imports: dict[str, str] = {}
        self.functions: dict[str, ast.FunctionDef | ast.AsyncFunctionDef] = {}
        self.methods: dict[str, dict[str, ast.FunctionDef | ast.AsyncFunctionDef]] = {}
        self.owner: dict[int, str] = {}
        self._starts: list[int] | None = None
        # By identity; the node is kept beside, so that no other can take its place.
        self._spots: dict[int, tuple[ast.AST, Spot]] = {}
        self._packages: dict[str, bool] = {}
        for node in statements(tree):
            self._learn(node)

    def _learn(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                known = alias.name if alias.asname else alias.name.split(".")[0]
                self.imports[alias.asname or known] = known
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            for alias in node.names:
                self.imports[alias.asname or alias.name] = f"{base}.{alias.name}"
        elif isinstance(node, ast.ClassDef):
            methods = {one.name: one for one in node.body if isinstance(one, FunctionNode)}
            self.methods[node.name] = methods
            for method in methods.values():
                self.owner[id(method)] = node.name
        elif isinstance(node, FunctionNode) and id(node) not in self.owner:
            self.functions.setdefault(node.name, node)

    def imported(self, *roots: str) -> bool:
        """Whether anything under one of these packages is imported."""
        return any(self._imported(root) for root in roots)

    def _imported(self, root: str) -> bool:
        known = self._packages.get(root)
        if known is None:
            begin = f"{root}."
            known = any(
                target == root or target.startswith(begin) for target in self.imports.values()
            )
            self._packages[root] = known
        return known

    def dotted(self, node: ast.expr) -> str:
        """The dotted name that an expression spells, imports resolved; empty for anything else."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        parts.append(self.imports.get(node.id, node.id))
        return ".".join(reversed(parts))

    def spot(self, node: ast.expr | ast.stmt) -> Spot:
        """Where a node stands."""
        known = self._spots.get(id(node))
        if known is None:
            known = self._spots[id(node)] = (node, self._spot(node))
        return known[1]

    def _spot(self, node: ast.expr | ast.stmt) -> Spot:
        start, end = self._offset(node.lineno, node.col_offset), -1
        if node.end_lineno is not None and node.end_col_offset is not None:
            end = self._offset(node.end_lineno, node.end_col_offset)
        return Spot(
            line=node.lineno + self.shift,
            end_line=(node.end_lineno or node.lineno) + self.shift,
            start=start,
            end=end,
        )

    def _offset(self, line: int, column: int) -> int:
        if self.shift:
            return -1
        if self._starts is None:
            self._starts = [0]
            for row in self.text.splitlines(keepends=True):
                self._starts.append(self._starts[-1] + len(row))
        begin = self._starts[min(line - 1, len(self._starts) - 1)]
        row = self.text[begin : begin + column]
        if row.isascii():
            return begin + column
        whole = self.text[begin:].split("\n", 1)[0]
        return begin + len(whole.encode()[:column].decode(errors="ignore"))


def spelled(node: ast.AST) -> str:
    """A node as it would be written; quick for the names that most of them are."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, (ast.Name, ast.Attribute)):
        return f"{spelled(node.value)}.{node.attr}"
    return ast.unparse(node)


def statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """Every statement of a module, however deep, expressions left alone."""
    stack: list[ast.AST] = list(reversed(tree.body))
    while stack:
        node = stack.pop()
        if isinstance(node, ast.stmt):
            yield node
        for name in ("finalbody", "orelse", "handlers", "cases", "body"):
            inner = getattr(node, name, None)
            if isinstance(inner, list):
                stack.extend(reversed(inner))
