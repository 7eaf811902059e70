"""A plan as pages: what they say, that they are the same twice, every supply and both orders."""

import io

import pytest
from planning_cases import oil, short
from pypdf import PdfReader

from reports.planning import Planned, data, rendered
from workbench.commands.cli import main
from workbench.planning import PlannedLoadSensing, Search
from workbench.planning.case import PlanCase
from workbench.planning.compare import compare

COARSE = Search(nodes=105, finest=1e-4)


def planned(task, starts=0) -> Planned:
    case = PlanCase("a <b> & $c$ case", task, COARSE, starts, "x.yaml")
    return Planned(case, compare(task, COARSE, starts), "2026-01-02", "plan x")


LEVELS = pytest.param(PlannedLoadSensing(creep=3e-3), 2, marks=pytest.mark.long)


@pytest.mark.parametrize("supply, order", [(oil(), 1), LEVELS], ids=["CP", "LS, two states"])
def test_pages_say_what_was_found(supply, order):
    content = planned(short(supply, order=order))
    made = rendered(content)
    words = " ".join(page.extract_text() for page in PdfReader(io.BytesIO(made)).pages)
    for word in (
        "a <b> & $c$ case",
        "dynamic programming",
        "pseudo-inverse, weighted",
        "How it is found",
        "plan x",
        "2026-01-02",
    ):
        assert word in words
    assert made == rendered(content)
    assert {"workspace", "motion", "supply", "energies", "value"} == set(
        data(content, ["workspace", "motion", "supply", "energies", "value"])["figures"]
    )
    assert words.count("Figure") >= 5


def test_the_command_writes_the_report(tmp_path, capsys):
    file = tmp_path / "case.yaml"
    file.write_text(
        "crane: hiab-reduced\npath: {points: [[2.3, 0.2], [2.6, 0.6]], leg: 4 s}\nsteps: 20\n"
        "search: {nodes: 105, finest: 0.1 mm}\n"
    )
    assert main(["plan", str(file), "--report", str(tmp_path / "plan.pdf")]) == 0
    assert (
        "plan.pdf" in capsys.readouterr().out
        and (tmp_path / "plan.pdf").read_bytes()[:5] == b"%PDF-"
    )
    assert main(["plan", str(file), "--report", str(file)]) == 3
    assert "would overwrite" in capsys.readouterr().err
