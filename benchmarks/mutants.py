"""Which single tokens of the code can be changed, and what becomes of the text.

What is changed: operators (+ −, × ÷, ** *), the direction and the edge of comparisons, and/or, a dropped `not` or minus sign, a
dropped term of a sum, min/max and sin/cos exchanged, indices and other whole numbers ± 1, other numbers doubled. Strings,
annotations, messages of errors and the digits that are printed are left alone.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PATHS = ("workbench/verification", "controllers", "plants")
OPERATORS = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.Pow: ("**", "*"),
}
COMPARISONS = {
    ast.Lt: ("<", ("<=", ">")),
    ast.LtE: ("<=", ("<", ">=")),
    ast.Gt: (">", (">=", "<")),
    ast.GtE: (">=", (">", "<=")),
    ast.Eq: ("==", ("!=",)),
    ast.NotEq: ("!=", ("==",)),
    ast.Is: ("is", ("is not",)),
    ast.IsNot: ("is not", ("is",)),
    ast.In: ("in", ("not in",)),
    ast.NotIn: ("not in", ("in",)),
}
SWAPPED = {
    "min": "max",
    "max": "min",
    "minimum": "maximum",
    "maximum": "minimum",
    "argmin": "argmax",
    "argmax": "argmin",
    "sin": "cos",
    "cos": "sin",
    "any": "all",
    "all": "any",
    "ceil": "floor",
    "floor": "ceil",
    "real": "imag",
}
WORDS = {
    "say",
    "format_quantity",
    "error",
    "InputError",
    "ValueError",
    "Assumption",
    "round",
}  # calls that only make sentences


@dataclass(frozen=True)
class Mutant:
    """One change: `old` at (line, column) of `file` becomes `new`.

    `function` is the outermost function around it ("Class.method"), "" where the change is made as the module is imported.
    `before` and `after` are the line without and with the change.
    """

    file: str
    line: int
    column: int
    old: str
    new: str
    kind: str
    function: str
    before: str
    after: str

    @property
    def key(self) -> str:
        """The same as long as the line is the same, wherever in the file it moves."""
        return f"{Path(self.file).name}::{self.function}: {self.before}  ->  {self.after}"


def files(paths) -> list[str]:
    """Python files below paths."""
    found = []
    for path in paths:
        full = ROOT / path
        found += [full] if full.is_file() else sorted(full.rglob("*.py"))
    return [str(p.relative_to(ROOT)) for p in found]


def mutants(file: str) -> list[Mutant]:
    """Every change of a file; a few are no Python, see `compiles`."""
    source = (ROOT / file).read_text("utf-8")
    text = Source(source)
    found = {}
    for node, function in _nodes(ast.parse(source)):
        for at, old, new, kind in _changes(node, text):
            line, column = text.place(at)
            before = text.lines[line - 1]
            after = before[:column] + new + before[column + len(old) :]
            made = Mutant(
                file, line, column, old, new, kind, function, before.strip(), after.strip()
            )
            found[line, column, new] = made
    return [found[place] for place in sorted(found)]


def mutated(source: str, mutant: Mutant) -> str:
    """The text with the change made."""
    lines = source.splitlines(keepends=True)
    at = sum(len(line) for line in lines[: mutant.line - 1]) + mutant.column
    if source[at : at + len(mutant.old)] != mutant.old:
        raise ValueError(f"{mutant.key}: the text is another one")
    return source[:at] + mutant.new + source[at + len(mutant.old) :]


def compiles(source: str, mutant: Mutant) -> bool:
    """Whether the changed text is Python, and other code than the unchanged one."""
    try:
        changed = ast.parse(mutated(source, mutant))
    except (SyntaxError, ValueError):
        return False
    return ast.dump(changed) != ast.dump(ast.parse(source))


def suspect(mutant: Mutant) -> str:
    """Why a survivor may be equivalent, or empty. Somebody must read it all the same."""
    if mutant.kind == "number" and re.match(r"[\w ]+: .*= |[A-Z_]+ = ", mutant.before):
        return "a default or a named constant"
    if mutant.kind == "number" and re.search(r"\d+e-\d+|EPS|eps", mutant.before):
        return "size of a tolerance"
    if {mutant.old, mutant.new} in ({"<", "<="}, {">", ">="}):
        return "differs at equality only"
    return ""


class Source:
    """A text with AST positions (line, byte column) as offsets in characters."""

    def __init__(self, source: str):
        self.source = source
        self.lines = source.splitlines(keepends=True)
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))

    def offset(self, line: int, column: int) -> int:
        head = self.lines[line - 1].encode()[:column].decode()
        return self.starts[line - 1] + len(head)

    def begin(self, node) -> int:
        return self.offset(node.lineno, node.col_offset)

    def end(self, node) -> int:
        return self.offset(node.end_lineno, node.end_col_offset)

    def place(self, offset: int) -> tuple[int, int]:
        line = next(i for i in range(len(self.lines)) if self.starts[i + 1] > offset)
        return line + 1, offset - self.starts[line]

    def between(self, left, right, token: str) -> int | None:
        """Where the token stands between two nodes."""
        a, b = self.end(left), self.begin(right)
        at = self.source.find(token, a, b)
        return None if at < 0 else at


def _nodes(tree: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """Nodes that compute something, with the outermost function around each.

    Annotations, f-strings, raise statements, sentences and decorators are left out.
    """
    stack: list[tuple[ast.AST, str, bool]] = [(tree, "", False)]
    while stack:
        node, name, inside = stack.pop()
        if isinstance(node, (ast.JoinedStr, ast.Raise, ast.Import, ast.ImportFrom)):
            continue
        if isinstance(node, ast.Call) and _called(node) in WORDS:
            continue
        yield node, name if inside else ""
        for field, child in _children(node):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not inside:
                within = f"{name}.{node.name}".lstrip(".")
                entered = isinstance(node, ast.FunctionDef) and field == "body"
                stack.append((child, within, entered))
            else:
                stack.append((child, name, inside))


def _children(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield field, child


def _called(node: ast.Call) -> str:
    return getattr(node.func, "id", getattr(node.func, "attr", ""))


def _changes(node: ast.AST, text: Source) -> Iterator[tuple[int, str, str, str]]:
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        yield from _operator(node, text)
    elif isinstance(node, ast.Compare):
        yield from _comparison(node, text)
    elif isinstance(node, ast.BoolOp):
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        at = text.between(node.values[0], node.values[1], old)
        if at is not None:
            yield at, old, new, "logic"
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        at, inner = text.begin(node), text.begin(node.operand)
        yield (
            at,
            text.source[at:inner],
            "",
            "dropped not" if isinstance(node.op, ast.Not) else "sign",
        )
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
        at = text.begin(node)
        yield at, text.source[at : text.end(node)], _number(node.value), "number"
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        at = text.begin(node)
        yield at, str(node.value), str(not node.value), "truth"
    elif isinstance(node, ast.Name) and node.id in SWAPPED and isinstance(node.ctx, ast.Load):
        yield text.begin(node), node.id, SWAPPED[node.id], "swap"
    elif isinstance(node, ast.Attribute) and node.attr in SWAPPED:
        yield text.end(node) - len(node.attr), node.attr, SWAPPED[node.attr], "swap"


def _operator(node: ast.BinOp, text: Source):
    old, new = OPERATORS[type(node.op)]
    if isinstance(node.left, (ast.Constant, ast.JoinedStr)) and isinstance(
        node.left, ast.JoinedStr
    ):
        return
    at = text.between(node.left, node.right, old)
    if at is None:
        return
    yield at, old, new, "operator"
    if isinstance(node.op, (ast.Add, ast.Sub)) and not isinstance(
        node.right, (ast.JoinedStr, ast.List, ast.Tuple)
    ):
        begin, end = text.end(node.left), text.end(node)
        piece = text.source[begin:end]
        if ")" not in text.source[begin:at] and "\n" not in piece:
            yield begin, piece, "", "dropped term"


def _comparison(node: ast.Compare, text: Source):
    sides = [node.left, *node.comparators]
    for op, left, right in zip(node.ops, sides, sides[1:]):
        old, others = COMPARISONS[type(op)]
        at = text.between(left, right, old)
        if at is not None:
            for new in others:
                yield at, old, new, "comparison"


def _number(value) -> str:
    if isinstance(value, int):
        return str(value + 1)
    return repr(value * 2) if value else "1.0"
