"""Sizes that readers can bear: of files, classes and functions, and how much stands on a line (`benchmarks/sizes.py`)."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

from sizes import CLASS, FILE, FUNCTION, NODES, ONE_PAGE, beyond, counted, files

DENSEST = 17.0  # nodes a line, of a file long enough to have an average


@pytest.fixture(scope="module")
def found():
    return list(files())


def test_files_fit_a_sitting(found):
    long = {file.name for file in found if file.lines > FILE}
    assert long == set(ONE_PAGE)


def test_classes_fit_a_thought(found):
    sizes = [size for file in found for size in file.classes]
    assert not beyond(sizes, CLASS)


def test_functions_fit_a_page(found):
    sizes = [size for file in found for size in file.functions]
    assert not beyond(sizes, FUNCTION)


def test_lines_hold_one_thought(found):
    """All files together, and none of thirty lines or more far beyond the others."""
    nodes = sum(file.nodes for file in found)
    lines = sum(file.code_lines for file in found)
    assert nodes / lines <= NODES
    dense = [f for f in found if f.code_lines >= 30 and f.nodes_per_line > DENSEST]
    assert not [file.name for file in dense]


def test_what_is_counted():
    """By hand: x = 1 has five nodes (module, assignment, name, store, constant)."""
    one = counted("a.py", "x = 1\n")
    assert (one.lines, one.code_lines, one.nodes, one.conditionals) == (1, 1, 5, 0)
    text = '"""Words.\n\nMore."""\n\n# why\ny = 1 if x else 2\n\n\nclass A:\n    """Short."""\n'
    two = counted("b.py", text)
    assert (two.lines, two.code_lines, two.conditionals) == (10, 2, 1)
    assert [(size.lines, size.where) for size in two.classes] == [(2, "b.py:9 A")]
