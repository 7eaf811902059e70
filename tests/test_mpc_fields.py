"""Fields of a predictive law by hand: its signals, numbers for each command, what it refuses of them, overlap of valves."""

from types import SimpleNamespace

import numpy as np
import pytest

from controllers.mpc import field_checks
from controllers.mpc import overlap as own_overlap
from controllers.mpc import signals as module
from controllers.mpc.field_checks import check_fields
from controllers.mpc.overlap import Overlap
from controllers.mpc.parts import LONGEST
from controllers.mpc.signals import MPCSignals
from workbench.contract.errors import InputError
from workbench.contract.system import Signal

OUTPUTS = tuple(
    Signal(n, u, m) for n, u, m in (("a", "m", "place"), ("b", "rad", ""), ("c", "Pa", ""))
)
INPUTS = (Signal("u", "V"), Signal("v", "V"), Signal("F", "N", "load"))
STATES = (Signal("x", "m"), Signal("w", "m/s"), Signal("y", "m"))


class Law(MPCSignals):
    """As much of an MPC as is read of it."""

    def __init__(self, **given):
        defaults = {
            "N": 6, "Q": (1.0,), "R": (0.5,), "S": (0.0,), "signals": (), "tracked": (), "preview": 2, "known": (),
            "observer": None, "u_min": (), "u_max": (), "slew": (), "w": 0.2, "blocks": (), "relinearise": False,
            "smooth": 1e-3, "iterations": 40, "x_0": (), "u_0": (), "working": None, "extra": None, "terminal": "cost",
            "model": SimpleNamespace(outputs=OUTPUTS, inputs=INPUTS, states=STATES),
        }  # fmt: skip
        self.__dict__.update(defaults | given)


@pytest.fixture(autouse=True)
def two_commands(monkeypatch):
    """u and v are commands with an overlap of 0.3 and 0.1 V; F is an input from outside."""
    monkeypatch.setattr(module, "controls", lambda model: INPUTS[:2])
    monkeypatch.setattr(module, "overlap", lambda model, w: Overlap(np.array([0.3, 0.1]), w))


def names(signals):
    return [s.name for s in signals]


# ---- signals -----------------------------------------------------------------------------------------------------------------
def test_what_is_measured_and_followed():
    """All outputs, and as many of the first as there are commands, unless said otherwise."""
    law = Law()
    assert names(law.measured) == ["a", "b", "c"] and names(law.follows) == ["a", "b"]
    assert names(Law(signals=("c", "a")).follows) == ["c", "a"]
    assert names(Law(tracked=("c",)).follows) == ["c"]
    with pytest.raises(InputError):
        _ = Law(signals=("a",), tracked=("c",)).follows


@pytest.mark.parametrize("preview, ahead", [(None, 6), (0, 0), (2, 2), (9, 6)])
def test_samples_of_preview(preview, ahead):
    law = Law(preview=preview)
    assert law.ahead == ahead and len(law.references) == 2 * (ahead + 1)


def test_references_now_and_ahead_and_known_pushes():
    found = Law(preview=1, known=("F",)).references
    assert names(found) == ["a_d", "b_d", "a_d@1", "b_d@1", "F@0", "F@1"]
    assert [s.unit for s in found] == ["m", "rad", "m", "rad", "N", "N"]
    assert (
        found[2].meaning == "desired place, 1 samples ahead"
        and found[5].meaning == "load, 1 samples ahead"
    )
    assert {s.kind for s in found} == {"reference"}


def test_where_disturbances_are_estimated():
    assert Law().disturbances == ()
    assert Law(observer=SimpleNamespace(disturbance=())).disturbances == ("u", "v")
    law = Law(observer=SimpleNamespace(disturbance=("F", "c", "z")))
    last = law.monitors[-3:]
    assert names(last) == ["d_F_hat", "d_c_hat", "d_z_hat"] and [s.unit for s in last] == [
        "N",
        "Pa",
        "1",
    ]
    assert len(law.monitors) == len(Law().monitors) + 3


@pytest.mark.parametrize(
    "R, S, searched",
    [((0.5,), (0.0,), ("R", "N")), ((0.0, 0.0), (0.0, 0.1), ("S", "N")), ((0.0,), (0.0,), ("N",))],
)
def test_weights_that_a_search_may_turn(R, S, searched):
    assert Law(R=R, S=S).searched == searched


@pytest.mark.parametrize(
    "blocks, lengths",
    [
        ((), (1,) * 6),
        ((1, 2), (1, 5)),
        ((1, 1, 2), (1, 1, 4)),
        ((6,), (6,)),
        ((2,), (6,)),
        ((1, 5), (1, 5)),
    ],
)
def test_samples_that_each_move_lasts(blocks, lengths):
    assert Law(blocks=blocks).lengths == lengths and sum(lengths) == 6


def test_a_number_for_each_command_or_output():
    """Limits are those of openings: within the overlap on either side; without a limit ±∞."""
    law = Law(R=(2.0,), S=(1.0, 3.0), Q=(4.0, 5.0), u_min=(-5.0,), u_max=(4.0, 6.0), slew=(7.0,))
    assert law.each("R").tolist() == [2.0, 2.0] and law.each("S").tolist() == [1.0, 3.0]
    assert law.each("Q").tolist() == [4.0, 5.0] and law.each("slew").tolist() == [7.0, 7.0]
    assert law.each("u_min") == pytest.approx([-4.7, -4.9]) and law.each("u_max") == pytest.approx(
        [3.7, 5.9]
    )
    free = Law(Q=(9.0,), tracked=("a", "b", "c"))
    assert (
        free.each("u_min").tolist() == [-np.inf] * 2 and free.each("u_max").tolist() == [np.inf] * 2
    )
    assert free.each("slew").tolist() == [np.inf] * 2 and free.each("Q").tolist() == [9.0] * 3
    with pytest.raises(InputError, match="Q: expected 1 or 3 numbers, got 2"):
        Law(Q=(1.0, 2.0), tracked=("a", "b", "c")).each("Q")
    with pytest.raises(InputError, match="R: expected 1 or 2 numbers, got 0"):
        Law(R=()).each("R")


def test_what_predicts_is_smoothed_where_it_is_linearised_along_a_path(monkeypatch):
    monkeypatch.setattr(module, "without_overlap", lambda model: ("open", model))
    monkeypatch.setattr(module, "smoothed", lambda model, speed: ("smooth", model, speed))
    plain = Law()
    assert plain.predicting == ("open", plain.model)
    along = Law(relinearise=True)
    assert along.predicting == ("smooth", ("open", along.model), 1e-3)


# ---- overlap ---------------------------------------------------------------------------------------------------------------------
def test_a_command_steps_over_the_overlap_within_a_width():
    own = Overlap(np.array([0.3, 0.1]), 0.2)
    for v, u in (
        ([0.1, -0.05], [0.25, -0.075]),
        ([0.5, -0.9], [0.8, -1.0]),
        ([0.2, 0.0], [0.5, 0.0]),
    ):
        assert own.command(np.array(v)) == pytest.approx(u)
    assert own and not Overlap(np.zeros(2), 0.2) and Overlap(np.array([0.0, 0.1]), 0.2)


def test_a_plant_without_the_overlap_of_its_valves(monkeypatch):
    """Open at once, as far as before: its largest command is less by the overlap."""
    numbers = {
        "lift.valve.dead_band": 0.3,
        "lift.valve.u_max": 5.0,
        "tilt.valve.dead_band": 0.1,
        "tilt.valve.u_max": 4.0,
        "m": 7.0,
    }
    rub = {"a.friction.width": 0.02, "b.friction.width": 2.0, "c.width": 0.01}
    leaf = lambda items: [SimpleNamespace(path=p, value=v) for p, v in items.items()]
    monkeypatch.setattr(own_overlap, "leaves", lambda plant: leaf(numbers | rub))
    monkeypatch.setattr(own_overlap, "bind", lambda plant, values: values)
    valve = lambda band: SimpleNamespace(valve=SimpleNamespace(dead_band=band))
    lapped = SimpleNamespace(cylinders=[valve(0.3), valve(0.1)])
    monkeypatch.setattr(own_overlap, "controls", lambda plant: "uv")
    assert own_overlap.overlap(lapped, 0.2).u_d.tolist() == [0.3, 0.1]
    assert own_overlap.overlap(SimpleNamespace(cylinders=()), 0.2).u_d.tolist() == [0.0, 0.0]
    assert own_overlap.without_overlap(lapped) == {
        "lift.valve.dead_band": 0.0,
        "tilt.valve.dead_band": 0.0,
        "lift.valve.u_max": pytest.approx(4.7),
        "tilt.valve.u_max": pytest.approx(3.9),
    }
    plain = SimpleNamespace(cylinders=[valve(0.0)])
    assert own_overlap.without_overlap(plain) is plain
    assert (
        own_overlap.smoothed(plain, 0.05) == {"a.friction.width": 0.05}
        and own_overlap.smoothed(plain, 0.01) is plain
    )


# ---- what is refused ----------------------------------------------------------------------
GOOD = [
    {},
    {"N": 1},
    {"N": LONGEST},
    {"preview": None},
    {"preview": 0},
    {"blocks": (1, 2, 3)},
    {"u_min": (-1.0,), "u_max": (1.0,)},
    {"iterations": 1},
    {"iterations": 1000},
    {"x_0": (1.0, 2.0, 3.0), "u_0": (1.0, 2.0)},
    {"working": ("w", "y")},
    {"relinearise": True},
    {"extra": "x", "terminal": "set"},
]


@pytest.mark.parametrize("given", GOOD)
def test_fields_that_fit(given):
    check_fields(Law(**given))


@pytest.mark.parametrize(
    "given, said",
    [
        ({"N": 0}, "horizon N = 0; it must"),
        ({"N": 2.0}, "horizon N = 2.0; it must"),
        ({"N": LONGEST + 1}, "at most"),
        ({"preview": -1}, "preview = -1"),
        ({"preview": 1.5}, "preview = 1.5"),
        ({"blocks": (1, 0)}, "blocks"),
        ({"blocks": (1.0,)}, "blocks"),
        ({"blocks": (1, 2, 4)}, "blocks"),
        ({"u_min": (1.0,), "u_max": (1.0,)}, "must be below"),
        (
            {"u_min": (-1.0, -0.1), "u_max": (1.0, 0.1)},
            "u_min, -0, must be below|u_min, 0, must be below",
        ),
        ({"iterations": 0}, "iterations = 0"),
        ({"iterations": 1001}, "iterations = 1001"),
        ({"iterations": 2.0}, "iterations = 2.0"),
        ({"x_0": (1.0, 2.0)}, "x_0: expected 3 numbers \\(x, w, y\\), got 2"),
        ({"u_0": (1.0,)}, "u_0: expected 2 numbers \\(u, v\\), got 1"),
        ({"working": ("away",)}, "away"),
        ({"relinearise": True, "extra": "x"}, "changes every sample"),
        ({"relinearise": True, "terminal": "set"}, "changes every sample"),
    ],
)
def test_fields_that_do_not_fit(given, said):
    with pytest.raises(InputError, match=said):
        check_fields(Law(**given))
    assert field_checks.LONGEST == LONGEST
