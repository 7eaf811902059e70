"""Shipped examples: each says at its head what verdict to expect; the quick ones are asked here, all in benchmarks/examples.py."""

import re
from pathlib import Path

import pytest

from workbench.commands import cli

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.yaml"))
VIOLATED = {
    "hiab-xs031-mpc",
    "falsify-crane",
}  # shown because of what is violated: the head says what and why
QUICK = {  # name → lines at its end that make it shorter
    "arm-imv": "",
    "excavator-boom": "",
    "four-bar-cycle": "",
    "hiab-xs031-unstable": "  sample-time-limit: false\n  delay-limit: false\nscenario: {duration: 2 s}\n",
    "linear-mpc": "",
    "requirements-servo": "",
    "probability-servo": "  practical-stability: false\n  settled: false\n  region-of-attraction: false\n",
}


def stated(path: Path) -> int | None:
    """The exit code that the comment at the file's head names."""
    head = re.match(r"(?:#.*\n)*", path.read_text("utf-8"))
    found = re.search(r"Expected: exit ([0-3])\b", head[0])
    return int(found[1]) if found else None


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_every_example_says_what_to_expect(path):
    assert stated(path) is not None
    assert (stated(path) == 1) == ("unstable" in path.stem or path.stem in VIOLATED)


@pytest.mark.parametrize("name", QUICK)
def test_quick_examples_end_as_they_say(name, tmp_path, capsys):
    (path,) = (p for p in EXAMPLES if p.stem == name)
    shorter = tmp_path / path.name
    shorter.write_text(path.read_text("utf-8") + QUICK[name], "utf-8")
    code = cli.verify_stability([str(shorter)])
    said = capsys.readouterr()
    assert code == stated(path), said.out + said.err
