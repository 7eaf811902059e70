"""Who may import whom, and that starting is cheap: by parsing imports and by asking fresh processes."""

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("workbench", "plants", "controllers", "reports")
SHELL = {
    "workbench/cases/file.py",
    "workbench/commands/cli.py",
    "workbench/commands/verbs.py",
}  # the only ones that know the other packages by name
ALLOWED = {
    # The sharpness of a rate needs the bodies' Jacobians, which only the mechanism can give.
    ("workbench/verification/ledger/rates.py", "plants"),
}
MAY = {
    "workbench": {"workbench"},
    "plants": {"plants", "workbench"},
    "controllers": {"controllers", "plants", "workbench"},
    "reports": {"reports", "plants", "workbench"},
}


@cache
def text(path) -> str:
    return (ROOT / path).read_text("utf-8")


parsed = cache(ast.parse)


@cache
def imports(source: str) -> frozenset[str]:
    """Top-level packages a file imports, wherever in it (inside functions, under TYPE_CHECKING, by name)."""
    found = set()
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            if not node.level:  # what is relative stays in its package
                found.add(node.module.split(".")[0])
        elif isinstance(node, ast.Call) and getattr(
            node.func, "attr", getattr(node.func, "id", "")
        ) in ("import_module", "__import__"):
            first = node.args[0]
            text = first.values[0] if isinstance(first, ast.JoinedStr) else first
            found.add(str(getattr(text, "value", "?")).split(".")[0])
    return frozenset(found)


def files(package):
    return sorted(p.relative_to(ROOT).as_posix() for p in (ROOT / package).rglob("*.py"))


def strays(name: str, source: str) -> set[str]:
    """Packages of ours that this file may not import."""
    return {p for p in imports(source) if p in PACKAGES and p not in MAY[name.split("/")[0]]} - {
        p for where, p in ALLOWED if where == name
    }


@pytest.mark.parametrize("package", PACKAGES)
def test_arrows_point_right(package):
    found = {name: strays(name, text(name)) for name in files(package) if name not in SHELL}
    assert found and not {name: packages for name, packages in found.items() if packages}


# Folders of workbench, the lowest first: a folder imports from itself and from those before it. The shell is left out.
FOLDERS = (
    "files",
    "contract",
    "numerics",
    "run",
    "verification",
    "interop",
    "identification",
    "planning",
)
UPWARDS = {
    # Whether a user's text says on symbols what it says on numbers: asked when a loop is built.
    ("contract", "workbench.numerics.expressions"),
    ("files", "workbench.contract.errors"),
}


def modules(source: str) -> set[str]:
    """Modules of workbench that a file imports from, wherever in it."""
    return {
        node.module
        for node in ast.walk(parsed(source))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("workbench.")
    }


@pytest.mark.parametrize("folder", FOLDERS)
def test_folders_of_workbench_import_downwards(folder):
    above = FOLDERS[FOLDERS.index(folder) + 1 :]
    found = {
        (name, module)
        for name in files(f"workbench/{folder}")
        for module in modules(text(name))
        if module.split(".")[1] in above and (folder, module) not in UPWARDS
    }
    assert not found


# Pairs that import each other, each with the reason.
CIRCLES = {
    # A study is a script as well: run as one, it loads what prints and draws its findings, which knows the study.
    frozenset({f"reports.studies.{name}", f"reports.studies.{name}_shown"})
    for name in ("jaiswal21", "kikuuwe22", "nurmi17")
}


@cache
def targets(name: str) -> frozenset[str]:
    """Modules of ours that a module imports, wherever in it, but for annotations (under TYPE_CHECKING)."""
    path = MODULES[name]
    found = set()
    for node in ran(parsed(text(path))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            package = name if path.name == "__init__.py" else name.rpartition(".")[0]
            above = ".".join(package.split(".")[: len(package.split(".")) + 1 - node.level])
            parts = (above if node.level else "", node.module)
            module = ".".join(part for part in parts if part)
            whole = {f"{module}.{alias.name}" for alias in node.names}
            found |= {one if one in MODULES else module for one in whole}
    return frozenset(found & MODULES.keys() - {name})


def ran(tree):
    """Every node of a text but those that only type checkers read."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            continue
        yield node
        yield from ran(node)


def dotted(path: Path) -> str:
    """The name under which a file is imported."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {
    dotted(path): path
    for package in (*PACKAGES, "fluidproof")
    for path in (ROOT / package).rglob("*.py")
}


def circles(arrows: dict[str, frozenset[str]]) -> set[frozenset[str]]:
    """Modules that reach each other, in groups of two or more."""
    reached = {name: set(targets) for name, targets in arrows.items()}
    for middle in arrows:
        beyond = reached[middle]
        for targets in reached.values():
            if middle in targets:
                targets |= beyond
    looped = {name for name in arrows if name in reached[name]}
    return {
        frozenset({name} | {other for other in reached[name] if name in reached[other]})
        for name in looped
    }


def test_no_module_imports_itself_through_others():
    assert circles({name: targets(name) for name in MODULES}) == CIRCLES


def test_circles_are_seen():
    arrows = {"a": frozenset("b"), "b": frozenset("c"), "c": frozenset("b"), "d": frozenset("a")}
    assert circles(arrows) == {frozenset("bc")}
    assert not circles({"a": frozenset("b"), "b": frozenset()})


def test_the_top_of_workbench_is_small():
    assert len([p for p in (ROOT / "workbench").iterdir() if p.name != "__pycache__"]) <= 12


def test_the_allowed_exceptions_are_still_needed():
    for name, package in ALLOWED:
        assert package in imports(text(name)), f"{name} needs no exception any more"


def test_a_stray_import_is_seen():
    for line in (
        "import plants.crane.manipulator",
        "def f():\n    from controllers import VDC",
        "import importlib\nimportlib.import_module('reports.document')",
        "importlib.import_module(f'plants.{x}')",
    ):
        assert strays("workbench/run/simulate.py", line), line
    assert strays("plants/crane/manipulator.py", "from controllers.vdc import VDC")
    assert strays("reports/tables.py", "from controllers import VDC")
    assert not strays("controllers/vdc.py", "from plants import manipulator\nimport numpy")


def test_tests_and_tools_are_imported_by_nobody():
    for package in PACKAGES:
        for name in files(package):
            assert not imports(text(name)) & {
                "tests",
                "pytest",
                "benchmarks",
                "notebooks",
            }, name


def test_equations_know_no_casadi():
    """Plants, components and laws are plain NumPy text; graphs and derivatives come from `workbench.numerics.calculus`."""
    for package in ("plants", "controllers", "reports"):
        assert not [name for name in files(package) if "casadi" in imports(text(name))]
    assert "casadi" in imports((ROOT / "workbench/numerics/calculus.py").read_text("utf-8"))


HEAVY = (
    "casadi",
    "scipy",
    "matplotlib",
    "xarray",
    "pint",
    "pydantic",
    "control",
    "cvxpy",
    "h5py",
    "pandas",
)


def loaded(code: str) -> set[str]:
    """Heavy packages a fresh process has loaded after `code`."""
    tail = "\nprint('LOADED', *sorted({m.split('.')[0] for m in sys.modules}))"
    out = subprocess.run(
        [sys.executable, "-c", "import sys\n" + code + tail],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert out.returncode == 0, out.stderr
    line = next(line for line in out.stdout.splitlines() if line.startswith("LOADED"))
    return set(line.split()[1:])


@pytest.mark.parametrize(
    "code", ["import workbench", "import plants, controllers", "import workbench.contract.errors"]
)
def test_importing_is_light(code):
    assert not loaded(code) & {*HEAVY, "numpy"}


def test_names_come_when_asked_for():
    assert "casadi" not in loaded(
        "from workbench import System, Signal, Sampled, Scenario, Verdict, InputError"
    )
    assert "casadi" in loaded("from workbench import simulate")
    assert not loaded("from workbench import simulate") & {
        "scipy",
        "matplotlib",
        "control",
        "cvxpy",
        "pandas",
    }


@pytest.mark.parametrize("entry", ["verify_stability", "main"])
def test_help_is_light(entry):
    pytest.importorskip("workbench.commands.cli")
    code = (
        f"sys.argv = ['x', '--help']\nfrom workbench.commands.cli import {entry}\n"
        f"try:\n    {entry}()\nexcept SystemExit as end:\n    assert not end.code, end.code"
    )
    assert not loaded(code) & {"casadi", "scipy", "matplotlib", "xarray", "cvxpy", "control"}


def test_every_public_name_exists():
    import controllers
    import plants
    import workbench

    for package in (workbench, plants, controllers):
        for name in package.__all__:
            assert getattr(package, name) is not None
        with pytest.raises(AttributeError, match="no attribute 'nothing'"):
            package.nothing  # noqa: B018


PROBES = 60  # of user's own objects, of Python's and of other libraries'


def probes(source: str) -> int:
    """How often a text asks whether something has an attribute: hasattr, and getattr with a default."""
    calls = [node for node in ast.walk(parsed(source)) if isinstance(node, ast.Call)]
    asked = [(getattr(call.func, "id", ""), len(call.args)) for call in calls]
    return sum(name == "hasattr" or (name == "getattr" and n > 2) for name, n in asked)


def test_what_plants_and_laws_have_is_declared_and_not_probed_for():
    found = {name: probes(text(name)) for package in PACKAGES for name in files(package)}
    assert 0 < sum(found.values()) <= PROBES
    beyond = ("workbench/verification/", "workbench/planning/", "reports/")
    assert sum(n for name, n in found.items() if name.startswith(beyond)) <= 5
    assert probes("hasattr(a, 'b') or getattr(a, 'b', 0) or getattr(a, 'b')") == 2


def test_the_list_of_long_tests_names_tests_that_are_there():
    lines = (ROOT / "tests" / "long.txt").read_text("utf-8").splitlines()
    listed = [line for line in lines if not line.startswith("#")]
    assert listed == sorted(set(listed))
    for line in listed:
        file, _, case = line.partition("::")
        name = case.partition("[")[0]
        assert f"def {name}(" in (ROOT / "tests" / file).read_text("utf-8"), line
