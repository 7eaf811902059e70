"""Sizes of the code: files, classes and functions that are too long, and how much stands on a line.

    python benchmarks/sizes.py [--all] [folder …]

A code line is neither blank, nor comment only, nor part of a docstring. Files, classes and functions are
counted as they stand in the editor, all lines, since that is what a reader scrolls through; a function
counts its decorators and its docstring. `tests/test_sizes.py` holds the limits.

    nodes per line         nodes of the syntax tree (`ast.walk`, without docstrings) / code lines
    conditionals per 100   expressions `a if b else c` / code lines × 100

The syntax tree is Python's with everything in it, also operators and contexts (`Add`, `Load`). Counted
this way, scipy's integrators have 10 nodes a line, scikit-fem 8 and diffrax 6.
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ("workbench", "plants", "controllers", "reports", "fluidproof", "benchmarks")
FILE, CLASS, FUNCTION, NODES = 300, 150, 50, 11.0  # lines, as CONTRIBUTING.md asks; nodes a line
# Files that are one page on purpose, each with the reason.
ONE_PAGE = {
    "workbench/verification/rigorous/recheck.py": "a reader takes it elsewhere and reads it whole",
    "reports/studies/alfayad16.py": "a literate study: model, specification, analysis, result",
    "reports/studies/jaiswal21.py": "a literate study: model, specification, analysis, result",
    "reports/studies/kikuuwe22.py": "a literate study: model, specification, analysis, result",
}
SCOPES = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Size:
    """One class or function: where it stands and how many lines it has."""

    lines: int
    where: str


@dataclass(frozen=True)
class File:
    """One file, counted."""

    name: str
    lines: int
    code_lines: int
    nodes: int
    conditionals: int
    classes: tuple[Size, ...]
    functions: tuple[Size, ...]

    @property
    def nodes_per_line(self) -> float:
        return self.nodes / max(self.code_lines, 1)

    @property
    def conditionals_per_100(self) -> float:
        return 100 * self.conditionals / max(self.code_lines, 1)


def docstrings(nodes: list[ast.AST]) -> list[ast.Expr]:
    """The statements that are docstrings: of the module, of its classes and functions."""
    found = []
    for node in nodes:
        if isinstance(node, SCOPES) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                if isinstance(first.value.value, str):
                    found.append(first)
    return found


def code_lines(source: str, documents: list[ast.Expr]) -> int:
    """How many lines of a text are neither blank nor comment only, nor part of a docstring."""
    silent: set[int] = set()
    for document in documents:
        silent.update(range(document.lineno, document.end_lineno + 1))
    lines = (line.strip() for line in source.splitlines())
    return sum(
        number not in silent and line != "" and not line.startswith("#")
        for number, line in enumerate(lines, 1)
    )


def sizes(nodes: list[ast.AST], name: str, kinds: tuple[type, ...]) -> tuple[Size, ...]:
    """Lines of every definition of these kinds, nested ones included."""
    return tuple(
        Size(node.end_lineno - first_line(node) + 1, f"{name}:{node.lineno} {node.name}")
        for node in nodes
        if isinstance(node, kinds)
    )


def first_line(node) -> int:
    """The line of a definition's first decorator, or its own."""
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def counted(name: str, source: str) -> File:
    """The counts of one text."""
    nodes = list(ast.walk(ast.parse(source)))
    documents = docstrings(nodes)
    return File(
        name=name,
        lines=len(source.splitlines()),
        code_lines=code_lines(source, documents),
        nodes=len(nodes) - 2 * len(documents),  # of a docstring: the statement and its constant
        conditionals=sum(isinstance(node, ast.IfExp) for node in nodes),
        classes=sizes(nodes, name, (ast.ClassDef,)),
        functions=sizes(nodes, name, (ast.FunctionDef, ast.AsyncFunctionDef)),
    )


def files(folders: tuple[str, ...] = FOLDERS) -> Iterator[File]:
    """Every Python file below these folders, counted."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield counted(path.relative_to(ROOT).as_posix(), path.read_text("utf-8"))


def beyond(sizes: list[Size], limit: int) -> list[Size]:
    """What has more lines than a limit, the longest first."""
    return sorted((s for s in sizes if s.lines > limit), key=lambda s: (-s.lines, s.where))


def show(title: str, rows: list[Size], shown: int | None) -> None:
    """One list, its worst members first."""
    print(f"\n{title}: {len(rows)}")
    for row in rows[:shown]:
        print(f"  {row.lines:5d}  {row.where}")


def show_density(title: str, found: list[File], value, shown: int | None) -> None:
    """The files with most of something on a line, of those long enough to have an average."""
    print(f"\n{title}")
    long_enough = [file for file in found if file.code_lines >= 30]
    for file in sorted(long_enough, key=value, reverse=True)[:shown]:
        print(f"  {value(file):6.2f}  {file.name}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", default=FOLDERS)
    parser.add_argument(
        "--all", action="store_true", help="show every row instead of the ten worst"
    )
    asked = parser.parse_args()
    shown = None if asked.all else 10
    found = list(files(tuple(asked.folders)))
    lines = sum(file.code_lines for file in found)
    nodes = sum(file.nodes for file in found)
    conditionals = sum(file.conditionals for file in found)
    print(f"{len(found)} files, {lines} code lines")
    print(f"nodes per code line: {nodes / lines:.2f} (asked: at most {NODES:g})")
    print(f"conditional expressions per 100 code lines: {100 * conditionals / lines:.2f}")
    whole = [Size(file.lines, file.name) for file in found if file.name not in ONE_PAGE]
    long_files = beyond(whole, FILE)
    show(f"files of more than {FILE} lines", long_files, shown)
    pages = [
        Size(file.lines, f"{file.name}: {ONE_PAGE[file.name]}")
        for file in found
        if file.name in ONE_PAGE
    ]
    show("more than that, one page on purpose", beyond(pages, FILE), shown)
    classes = [size for file in found for size in file.classes]
    show(f"classes of more than {CLASS} lines", beyond(classes, CLASS), shown)
    functions = [size for file in found for size in file.functions]
    show(f"functions of more than {FUNCTION} lines", beyond(functions, FUNCTION), shown)
    show_density("nodes per code line, the densest files", found, lambda f: f.nodes_per_line, shown)
    show_density(
        "conditional expressions per 100 code lines", found, lambda f: f.conditionals_per_100, shown
    )


if __name__ == "__main__":
    main()
