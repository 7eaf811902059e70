"""Mutation testing: one token of the code is changed, the tests that matter must fail.

    python benchmarks/mutation.py --sample 100 --seed 3                # of workbench/verification, controllers, plants
    python benchmarks/mutation.py --paths workbench/verification/stability.py --sample 20
    python benchmarks/mutation.py --list --paths controllers/pid.py    # what would be changed, and which tests would run
    python benchmarks/mutation.py --json out.json --sample 400         # goes on where out.json stops

What is changed: operators (+ −, × ÷, ** *), the direction and the edge of comparisons, and/or, a dropped `not` or minus sign, a
dropped term of a sum, min/max and sin/cos exchanged, indices and other whole numbers ± 1, other numbers by a tenth. Strings,
annotations, messages of errors and the digits that are printed are left alone.

It works in a copy of the tree. The tests of a file are those that import it, directly or by what they import, the most direct first
(`--tests` of them); a mutant that they let pass is a survivor, and somebody must read it: it is a hole in the tests, or changes
nothing (an equivalent). Survivors whose change has no effect on the compiled code, or only on a tolerance's size, are marked.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).resolve().parents[1]
PATHS = ("workbench/verification", "controllers", "plants")
FOLDERS = ("workbench", "plants", "controllers", "reports", "tests", "examples", "benchmarks")
FILES = (
    "pyproject.toml",
    "README.md",
    "CITATIONS.bib",
    "NOTATION.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
)
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
    """One change: `old` at (line, column) of `file` becomes `new`."""

    file: str
    line: int
    column: int
    old: str
    new: str
    kind: str

    @property
    def key(self) -> str:
        return f"{self.file}:{self.line}:{self.column} {self.old} → {self.new}"


@dataclass(frozen=True)
class Result:
    """What the tests did with a mutant: killed, survived, or timeout (which counts as killed)."""

    key: str
    outcome: str
    seconds: float
    before: str
    after: str
    tests: tuple[str, ...]
    suspect: str


# ---- what can be changed ----------------------------------------------------------------------------------------------
def mutants(file: str) -> list[Mutant]:
    """Every change of a file."""
    source = (ROOT / file).read_text("utf-8")
    tree = ast.parse(source)
    text = Source(source)
    found = []
    for node in _nodes(tree):
        found += [
            Mutant(file, *text.place(at), old, new, kind)
            for at, old, new, kind in _changes(node, text)
        ]
    return sorted(set(found), key=lambda m: (m.line, m.column, m.new))


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


def _nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Nodes that compute something: no annotations, f-strings, raise statements, sentences, decorators."""
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, (ast.JoinedStr, ast.Raise, ast.Import, ast.ImportFrom)):
            continue
        if isinstance(node, ast.Call) and _called(node) in WORDS:
            continue
        yield node
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list"):
                continue
            stack += [
                v for v in (value if isinstance(value, list) else [value]) if isinstance(v, ast.AST)
            ]


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
    return repr(value * 1.1) if value else "0.1"


# ---- which tests matter -----------------------------------------------------------------------------------------------
def test_map(count: int) -> dict[str, list[str]]:
    """Test files of every file, the most direct first: those that import it, what imports it, or what imports that."""
    packages = ("workbench", "controllers", "plants", "reports", "tests")
    graph = {_module(file): _imports(ROOT / file) for file in files(packages)}
    tests = {module: graph[module] for module in graph if module.startswith("tests.test_")}
    found = {}
    for file in files(PATHS):
        module = _module(file)
        scores = {test: _score(module, test, near, graph) for test, near in tests.items()}
        ranked = sorted(
            (test for test in scores if scores[test] > 0), key=lambda test: -scores[test]
        )
        found[file] = [f"tests/{test.removeprefix('tests.')}.py" for test in ranked[:count]]
    return found


def _module(file: str) -> str:
    return file.removesuffix(".py").replace("/", ".").removesuffix(".__init__")


def _imports(path: Path) -> set[str]:
    """Modules that a file imports, wherever in it; a name imported from a package may be a module of that package."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
    return found


def _score(module: str, test: str, near: set[str], graph: dict[str, set[str]]) -> float:
    """How directly a test reaches a module, more for one that imports little else; words that both names share count, too."""
    words = set(module.rsplit(".", 1)[-1].split("_")) & set(
        test.removeprefix("tests.test_").split("_")
    )
    helpers = {m for m in near if m in graph}
    second = set().union(*(graph[m] for m in helpers)) if helpers else set()
    third = set().union(*(graph[m] for m in second if m in graph)) if second else set()
    reach = next(
        (w for w, modules in ((10.0, near), (3.0, second), (0.5, third)) if module in modules), 0.0
    )
    return (reach + 4.0 * len(words)) / max(len(helpers), 1) ** 0.25


def files(paths) -> list[str]:
    """Python files below paths."""
    found = []
    for path in paths:
        full = ROOT / path
        found += [full] if full.is_file() else sorted(full.rglob("*.py"))
    return [str(p.relative_to(ROOT)) for p in found]


# ---- running ----------------------------------------------------------------------------------------------------------
def copied() -> Path:
    """A copy of the tree to work in."""
    into = Path(tempfile.mkdtemp(prefix="mutation-"))
    skip = shutil.ignore_patterns("__pycache__", "*.pyc")
    for name in FOLDERS:
        shutil.copytree(ROOT / name, into / name, ignore=skip)
    for name in FILES:
        if (ROOT / name).exists():
            shutil.copy(ROOT / name, into / name)
    return into


def mutated(source: str, mutant: Mutant) -> str:
    """The text with the change made."""
    lines = source.splitlines(keepends=True)
    at = sum(len(line) for line in lines[: mutant.line - 1]) + mutant.column
    if source[at : at + len(mutant.old)] != mutant.old:
        raise ValueError(f"{mutant.key}: the text is another one")
    return source[:at] + mutant.new + source[at + len(mutant.old) :]


def passes(tree: Path, tests: list[str], limit: float) -> bool | None:
    """Whether the tests pass in the copy; None past the limit."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(tree),
        "PYTHONDONTWRITEBYTECODE": "1",
        "FLUIDPROOF_OPTIMISE": "-Og",
    }
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "--no-header",
        "-p",
        "no:cacheprovider",
        *tests,
    ]
    process = subprocess.Popen(
        command,
        cwd=tree,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return process.wait(timeout=limit) == 0
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.wait()
        return None


def suspect(source: str, changed: str, mutant: Mutant) -> str:
    """Why a survivor may be equivalent, or empty."""
    if ast.dump(ast.parse(source)) == ast.dump(ast.parse(changed)):
        return "same code"
    line = source.splitlines()[mutant.line - 1]
    if mutant.kind == "number" and re.match(r"\s*[\w ]+: .*= |[A-Z_]+ = ", line):
        return "a default or a named constant"
    if mutant.kind == "number" and re.search(r"\d+e-\d+|EPS|eps", line):
        return "size of a tolerance"
    if mutant.kind == "comparison" and {mutant.old, mutant.new} in ({"<", "<="}, {">", ">="}):
        return "differs at equality only"
    return ""


def judge(tree: Path, mutant: Mutant, tests: list[str], limit: float) -> Result:
    """What the tests do with one mutant."""
    target = tree / mutant.file
    source = target.read_text("utf-8")
    changed = mutated(source, mutant)
    begun = perf_counter()
    try:
        target.write_text(changed, "utf-8")
        passed = passes(tree, tests, limit)
    finally:
        target.write_text(source, "utf-8")
    outcome = {True: "survived", False: "killed", None: "timeout"}[passed]
    before, after = (text.splitlines()[mutant.line - 1].strip() for text in (source, changed))
    return Result(
        mutant.key,
        outcome,
        perf_counter() - begun,
        before,
        after,
        tuple(tests),
        suspect(source, changed, mutant),
    )


def compiles(source: str, mutant: Mutant) -> bool:
    try:
        ast.parse(mutated(source, mutant))
    except (SyntaxError, ValueError):
        return False
    return True


def main() -> int:
    options = _options().parse_args()
    chosen = sorted(
        (m for file in files(options.paths) for m in mutants(file)), key=lambda m: m.key
    )
    if options.kind:
        chosen = [m for m in chosen if m.kind in options.kind]
    total = len(chosen)
    random.Random(options.seed).shuffle(chosen)
    chosen = [
        m for m in chosen[: 2 * options.sample] if compiles((ROOT / m.file).read_text("utf-8"), m)
    ][: options.sample]
    tests = test_map(options.tests)
    if options.list:
        for m in chosen:
            print(f"{m.key}   [{m.kind}]   {' '.join(tests.get(m.file, ()))}")
        return 0
    found = _run(chosen, tests, options)
    _say(found, total)
    return 0


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--paths", nargs="+", default=PATHS, help="files or folders that are changed"
    )
    parser.add_argument(
        "--sample", type=int, default=50, metavar="N", help="that many changes, drawn at random"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--kind",
        action="append",
        help="only changes of this kind: operator, comparison, number, sign, …",
    )
    parser.add_argument(
        "--tests", type=int, default=4, metavar="N", help="test files that are run for each file"
    )
    parser.add_argument(
        "--limit", type=float, default=120.0, metavar="S", help="time for the tests of one mutant"
    )
    parser.add_argument(
        "--json", metavar="FILE", help="write the results there, one by one, and go on from it"
    )
    parser.add_argument(
        "--list", action="store_true", help="print the changes and their tests, run nothing"
    )
    return parser


def _run(chosen: list[Mutant], tests: dict[str, list[str]], options) -> list[Result]:
    known = {}
    if options.json and Path(options.json).exists():
        rows = [json.loads(line) for line in Path(options.json).read_text("utf-8").splitlines()]
        known = {row["key"]: Result(**{**row, "tests": tuple(row["tests"])}) for row in rows}
    found = []
    tree = copied()
    sound: dict[tuple[str, ...], bool] = {}
    try:
        for i, mutant in enumerate(chosen, 1):
            if mutant.key in known:
                found.append(known[mutant.key])
                continue
            own = tests.get(mutant.file) or ["tests/test_claims.py"]
            if tuple(own) not in sound:
                sound[tuple(own)] = passes(tree, own, 4 * options.limit) is True
            if not sound[tuple(own)]:
                print(
                    f"{i}/{len(chosen)} left out, its tests do not pass unchanged: {mutant.key}",
                    flush=True,
                )
                continue
            result = judge(tree, mutant, own, options.limit)
            found.append(result)
            print(
                f"{i}/{len(chosen)} {result.outcome} {result.seconds:.0f} s  {mutant.key}",
                flush=True,
            )
            if options.json:
                with open(options.json, "a", encoding="utf-8") as stream:
                    stream.write(json.dumps(asdict(result), ensure_ascii=False) + "\n")
    finally:
        shutil.rmtree(tree, ignore_errors=True)
    return found


def _say(found: list[Result], total: int) -> None:
    survived = [r for r in found if r.outcome == "survived"]
    for result in survived:
        note = f"   ({result.suspect})" if result.suspect else ""
        print(
            f"\nSURVIVED {result.key}{note}\n  - {result.before}\n  + {result.after}\n  {' '.join(result.tests)}"
        )
    killed = len(found) - len(survived)
    late = sum(r.outcome == "timeout" for r in found)
    suspects = sum(bool(r.suspect) for r in survived)
    print(
        f"\n{len(found)} of {total} changes tried: {killed} killed ({late} by the time limit), {len(survived)} survived, "
        f"{suspects} of these perhaps equivalent"
    )
    if found:
        print(
            f"killed: {100 * killed / len(found):.0f} %; of what is not marked equivalent "
            f"{100 * killed / max(len(found) - suspects, 1):.0f} %"
        )


if __name__ == "__main__":
    sys.exit(main())
