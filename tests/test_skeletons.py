"""Machines to begin with: each is found, read, drawn and held by its default law on a path through its own reach."""

from pathlib import Path

import numpy as np
import pytest

import plants.skeletons as skeletons
from controllers import VDC
from plants.multibody.reach import ranges
from workbench.cases.file import load, loads
from workbench.commands import cli
from workbench.contract.system import innermost
from workbench.run.reference import Waypoints

KINDS = list(skeletons.KINDS)


def test_the_list_and_the_files_are_the_same():
    files = Path(skeletons.__file__).parent.glob("*.yaml")
    assert sorted(KINDS) == sorted(path.stem for path in files)
    from workbench.commands.grammar import workbench_parser

    verbs = workbench_parser(cli.ACTS)._subparsers._group_actions[0].choices
    told = next(a.help for a in verbs["init"]._actions if a.dest == "machine")
    assert all(kind in told for kind in KINDS), "--help names every one"


@pytest.mark.parametrize("kind", KINDS)
def test_a_skeleton_gets_vdc_and_a_path_to_both_sides(kind, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["init", "--machine", kind, "-o", "mine.yaml"]) == 0
    text = Path("mine.yaml").read_text("utf-8")
    assert "verify-stability mine.yaml" in text and f"{kind}.yaml" not in text
    case = load("mine.yaml")
    assert type(innermost(case.controller)) is VDC
    path = case.scenario.reference
    assert isinstance(path, Waypoints) and path.space == "joint" and case.scenario.length() == 22.0
    start = np.array(case.plant.initial()[: case.plant.n])
    moved = np.array(path.points[1:3]) - start
    assert (moved[0] * moved[1] < 0).all(), "every joint goes to both sides"
    known = ranges(case.plant)
    for signal, aways in zip(case.plant.states, moved.T):
        low, high = known.get(signal.name, (-0.75, 0.75))
        assert np.abs(aways).max() == pytest.approx(0.2 * (high - low), rel=0.01)
    assert cli.main(["init", "--machine", kind, "-o", "mine.yaml"]) == 3, "nothing is overwritten"


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_a_skeleton_holds_as_written(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["init", "--machine", kind]) == 0
    assert cli.verify_stability([f"{kind}.yaml"]) == 0


@pytest.mark.parametrize(
    "words, said",
    [
        (["crane"], "workbench init --machine crane"),
        (["--machine", "cran"], "did you mean crane?"),
        (["--machine", "hiab-xs031"], "write: workbench init hiab-xs031"),
        (["hiab-xs031", "--machine", "crane"], "give one of the two"),
    ],
)
def test_a_wrong_name_is_mended(words, said, capsys):
    assert cli.main(["init", *words]) == 3 and said in capsys.readouterr().err


def test_pins_that_would_meet_elsewhere_than_where_the_machine_is():
    """The actuator's pins coincide at a position of 0, where its slide never is: nothing is asked there."""
    case = loads(skeletons.skeleton("actuator"))
    assert case.plant.task("joint", [0.9]) == [0.9] and case.plant.initial()[0] == 0.9
    with pytest.raises(ZeroDivisionError):
        case.plant.task("piston", [0.0])
