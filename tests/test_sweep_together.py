"""Cases of a sweep that go side by side in one process: the same table, whatever fails or dies on the way."""

import os

import pytest

from workbench.sweep import sweep
from workbench.sweep.cases import results
from workbench.sweep.form import read_sweep
from workbench.sweep.outcome import Outcome, outcomes


class Squares:
    """x → x²; three at once, but for what cannot be squared. `made`: numbers of cases made at once."""

    made: list = []

    def __init__(self, dies=None):
        self.dies = dies

    def content(self, point):
        return [point["x"]]

    def beside(self, points):
        return 3

    def several(self, points):
        Squares.made.append(len(points))
        if self.dies and any(point["x"] == 2 for point in points) and len(points) > 1:
            os._exit(1)
        if any(point["x"] == 7 for point in points):
            raise ValueError("seven at once is too much")
        return [None if point["x"] < 0 else {"y": point["x"] ** 2} for point in points]

    def __call__(self, point):
        if point["x"] < 0:
            raise ValueError("below zero")
        return {"y": point["x"] ** 2}


def test_cases_go_side_by_side_and_what_fails_goes_alone():
    Squares.made.clear()
    told = []
    progress = lambda fraction, words: told.append((fraction, words))
    table = sweep(Squares(), {"x": [1, 2, 3, -4, 5, 6, 7, 8]}, jobs=1, progress=progress)
    assert Squares.made == [3, 3, 2]
    assert list(table["y"][:3]) == [1, 4, 9] and list(table["y"][4:]) == [25, 36, 49, 64]
    assert "below zero" in table["error"][3] and not any(table["error"][4:])
    assert told[-1] == (1.0, "8 of 8, 1 failed")


def test_a_group_whose_process_dies_runs_apart():
    table = sweep(Squares(dies=True), {"x": [1, 2, 3, 4]}, jobs=2)
    assert list(table["y"]) == [1, 4, 9, 16] and not any(table["error"])


def test_outcomes_are_those_of_the_cases_alone():
    found = outcomes(Squares(), [{"x": 3}, {"x": -1}])
    assert found[0] == Outcome((("y", 9, ""),))
    assert "below zero" in found[1].error


CRANE = """\
plant: {machine: hiab-xs031, lock: {extension: 0.5 m}}
controller: {law: VDC}
loop: {sample_time: 2 ms}
scenario:
  reference: {type: Waypoints, space: cartesian, points: [start, [2.5 m, 1 m], start], leg: 1 s}
  duration: 0.05 s
"""
SWEEP = """\
case: crane.yaml
grid: {plant.payload.mass: [0 kg, 10 kg, 20 kg]}
collect: {verdicts: KEPT, signals: {top: {signal: tcp_x, take: max}}}
"""


def asked(folder, kept="false"):
    """(study, its points)."""
    (folder / "crane.yaml").write_text(CRANE)
    (folder / "sweep.yaml").write_text(SWEEP.replace("KEPT", kept))
    found = read_sweep(folder / "sweep.yaml")
    return found.study, found.grid.points()


def test_what_is_verified_or_too_short_goes_alone(tmp_path):
    study, points = asked(tmp_path)
    assert study.beside(points) == study.beside(points[:1]) == 1
    verified, points = asked(tmp_path, "[tracking]")
    assert verified.beside(points * 10**5) == 1


@pytest.mark.long
def test_cranes_side_by_side_give_what_each_gives_alone(tmp_path):
    study, points = asked(tmp_path)
    assert study.beside(points * 10**5) > 1
    assert study.several(points) == [results(study.case(p), study.collect) for p in points]
