"""Small places of laws and of what tunes them, from numbers written down: searches by runs, their tables, a force's row."""

import math
from dataclasses import fields
from types import SimpleNamespace

import numpy as np
import pytest

from controllers import LQR, MPC, PID, VDC
from controllers.gain_search import drawn as pictures
from controllers.gain_search import shown
from controllers.gain_search.options import ByRuns
from controllers.gain_search.point import Point
from controllers.mpc import parts
from controllers.mpc.check import refined
from controllers.mpc.prepare import Prepared
from controllers.pid_tuning.record import _peaks
from controllers.vdc import forces, ledger
from controllers.vdc.drives.pure_force import PureForce
from workbench.contract.errors import InputError
from workbench.verification.linear.systems import LinearSystem


# ---- searches by runs ---------------------------------------------------------------------------
def point(error=2e-3, bears=0.02, **other):
    return Point((0.0,), {"K": 3.0}, error, 2 * error, bears, **other)


def found(**other):
    chosen = other.pop("chosen", point(5e-5, 0.04))
    tried = (point(), point(bears=0.0), point(3e-3, 0.5), point(violated=("x",)), chosen)
    given = {"asked": "least error", "tried": tried, "better": True, "met": True, "unit": "m"}
    given |= {"start": point(), "chosen": chosen, "what": "delay", "floor": None, "ceiling": None}
    return SimpleNamespace(**given | other)


def test_what_is_borne_and_what_is_an_error_in_words():
    assert [shown.borne(point(bears=s)) for s in (0.0, 0.02, 2.5)] == ["none", "20 ms", "2.5 s"]
    assert shown.size(2e-3, "m") == "2 mm" and shown.size(math.inf, "m") == "ends early"


@pytest.mark.parametrize(
    "better, met, violated, told",
    [
        (True, True, (), []),
        (False, True, (), ["nothing better than the gains it began with was found: they stay"]),
        (True, False, (), [shown.UNMET]),
        (True, False, ("stable",), ["not kept: stable"]),
        (True, True, ("stable",), ["not kept: stable"]),
    ],
)
def test_what_came_of_a_search(better, met, violated, told):
    chosen = point(violated=violated)
    words = shown.in_words(found(better=better, met=met, chosen=chosen))
    assert words == ["asked: least error; 5 choices of gains were run", *told]


@pytest.mark.parametrize(
    "error, unit, scale",
    [
        (9e-5, "m", (1e6, "µm")),
        (1e-4, "m", (1e3, "mm")),
        (2e-2, "m", (1e3, "mm")),
        (9e-5, "rad", (1.0, "rad")),
    ],
)
def test_a_handy_size_of_errors(error, unit, scale):
    assert pictures._scale(found(chosen=point(error), unit=unit)) == scale


def test_choices_that_bear_nothing_or_keep_not_what_was_asked_are_counted_beside_the_picture():
    fig = pictures.figure(found(floor=0.01, ceiling=4e-3))
    assert fig.legends[0].get_title().get_text() == "2 more bear none"
    assert not fig.legends[0].get_frame_on() and fig.get_size_inches().tolist() == [6.7, 3.0]
    (ax,) = fig.axes
    assert [line.get_linewidth() for line in ax.lines] == [0.8] * 3
    run, before, chosen = (part.get_offsets().data.tolist() for part in ax.collections)
    assert run == [[20.0, 2000.0], [500.0, 3000.0], [40.0, 50.0]]
    assert before == [[20.0, 2000.0]] and chosen == [[40.0, 50.0]]
    front, least, most = (np.array(line.get_data()).tolist() for line in ax.lines)
    assert front == [[40.0, 500.0], [50.0, 3000.0]]
    assert least[0] == [10.0, 10.0] and most[1] == [4000.0, 4000.0]


# ---- an MPC's solution --------------------------------------------------------------------------
def test_a_solution_that_was_not_refined_misses_the_whole_gradient():
    """At z = 0 and no row named the gradient is f itself: its largest part counts, as a share of the largest of f."""
    dense = SimpleNamespace(
        H=np.diag([2.0, 4.0]), F=np.array([[1.0], [-8.0]]), c1=np.array([0.5, 0.0]),
        G=np.zeros((0, 2)), bounds=lambda θ: (np.full(2, -50.0), np.full(2, 50.0)),
    )  # fmt: skip
    z, λ, residual = refined(dense, np.array([3.0]), np.zeros(2), steps=0)
    assert not z.any() and not λ.any() and residual == 1.0
    z, _, residual = refined(dense, np.array([3.0]), np.zeros(2))
    assert z == pytest.approx([-1.75, 6.0]) and residual < 1e-15


def test_how_far_a_full_stroke_moves_each_state_of_the_plant():
    """2 and 2 + 0.5 · 2 and 2 + 0.5 · 3; the second is not moved; the third is not of the plant."""
    A, B = np.diag([0.5, 0.9, 0.1]), np.array([[-1.0], [0.0], [7.0]])
    model = SimpleNamespace(A=A, B=B, n=2)
    own = SimpleNamespace(problem=SimpleNamespace(model=model, N=3, stroke=np.array([2.0])))
    assert Prepared.sizes.func(own) == pytest.approx([3.5, 1.0])


USUAL = {
    PID: {
        "K_p": (40.0,), "K_i": (5.0,), "K_d": (0.0,), "τ": 0.02, "K_v": (40.0,), "K_f": (1.2e-5,),
        "τ_p": 0.33, "u_max": 10.0, "T_t": 0.2, "δ": 0.0, "w": 0.2,
    },
    MPC: {
        "Q": (1.0,), "R": (0.0,), "S": (0.0,), "N": 20, "T_s": 1e-3, "delay": 0.0,
        "room": 0.5,  # half of every range for steady states
        "iterations": 1,  # one linear problem a sample, begun at the one before
        "smooth": 0.01, "w": 0.2,
    },
    VDC: {
        "λ": (8.0,), "κ": 10.0, "K_I": 0.0, "βk_f": (120.0,), "k_m": (1.0,), "Kk_f": (60.0,),
        "τ": 5e-3, "cutoff": 20.0,
    },
    LQR: {"T_s": 1e-3},
}  # fmt: skip


@pytest.mark.parametrize("law", USUAL, ids=lambda law: law.__name__)
def test_usual_numbers_of_laws(law):
    """What a file leaves out is what the documentation says."""
    own = {f.name: f.default for f in fields(law)}
    found = {name: value for name, value in own.items() if value and type(value) is tuple}
    found |= {name: value for name, value in own.items() if type(value) in (int, float)}
    assert found == USUAL[law]


# ---- margins of a loop with a direct path -------------------------------------------------------
def test_peaks_of_a_loop_that_is_a_number():
    """L = 1/2: T = 1/3 and S = 1 − T = 2/3 at every frequency."""
    L = LinearSystem([[0.2]], [[0.0]], [[0.0]], [[0.5]], 0.01)
    M_s, M_t, _ = _peaks(L)
    assert M_s == pytest.approx(2 / 3, rel=1e-5) and M_t == pytest.approx(1 / 3, rel=1e-5)


# ---- a force without anything between -----------------------------------------------------------
@pytest.mark.parametrize("limit, cut", [(None, 90.0), (50.0, 50.0), (200.0, 90.0)])
def test_the_row_of_a_force(limit, cut):
    """Power of each cause is Δẋ times the step of the force that it makes; all of them, with the model's, are what is not f_cr."""
    part = PureForce("c", SimpleNamespace(limit=limit))
    given = SimpleNamespace(
        v_r=0.7, v=0.4, u=90.0, own_f_cr=70.0, steps={"rate": 75.0, "delay": 82.0}, f_c=60.0,
        f_cr=110.0, erring=-9.0, cut="joint", lever=0.3,
    )  # fmt: skip
    entry = part.entry(part.drive, given)
    wanted = {"model": -9.0, "rate": -5.0, "delay": -7.0, "saturation": 82.0 - cut}
    wanted["drive"] = cut - 60.0
    assert entry.perturbations == pytest.approx({k: 0.3 * v for k, v in wanted.items()})
    assert entry.flows == pytest.approx({"joint": -0.3 * (110.0 - 60.0)})
    assert entry.scale == pytest.approx(0.3 * (110 + 70 + 75 + 82 + cut + 60))
    assert part.shown(part.drive, given) == pytest.approx({"lever c": 0.3, "Δẋ c": 0.3})
    assert part.rate(part.drive) == math.inf


def test_a_negative_command_is_cut_at_the_other_end():
    part = PureForce("c", SimpleNamespace(limit=50.0))
    given = SimpleNamespace(
        v_r=0.4, v=0.7, u=-90.0, own_f_cr=-70.0, steps={}, f_c=-60.0, f_cr=-70.0, erring=0.0,
        cut="joint", lever=0.3,
    )  # fmt: skip
    found = part.entry(part.drive, given).perturbations
    assert found == pytest.approx({"model": 0.0, "saturation": -0.3 * -20.0, "drive": -0.3 * 10.0})


def test_room_of_levers_and_of_the_pump_along_a_run():
    """A lever as a share of its longest; the pump's flow of 2 l/s as far as it is not taken, below zero beyond it."""
    part = lambda label: SimpleNamespace(label=label, monitors=lambda q, drive: {f"own {label}": 1})
    served = ((part("lift"), None), (part("slide"), None))
    segments = (SimpleNamespace(slides=False), SimpleNamespace(slides=True))
    own = SimpleNamespace(
        plant=SimpleNamespace(labels=("lift", "slide"), segments=segments),
        served=served,
        _most_flow=[2e-3],
    )
    q = {"lever lift": np.array([-0.2, 0.4]), "pump flow": np.array([0.5e-3, 3e-3])}
    found = ledger.MachineLedger.monitors(own, SimpleNamespace(quantities=q))
    assert found.pop("lever arm lift") == pytest.approx([0.5, 1.0])
    assert found.pop("pump flow") == pytest.approx([0.75, -0.5])
    assert found == {"own lift": 1, "own slide": 1}


def test_the_line_of_a_pump_that_settles_while_all_rods_move_as_asked(monkeypatch):
    """Above the return, whose pressure is none; of no supply, and of one whose pressure is a state, nothing is asked.

    Nor is a drive that takes no oil.
    """
    part = lambda area: SimpleNamespace(asks=lambda drive, f, v, v_r, z, rate: (v_r, area))
    taking = lambda oil: SimpleNamespace(drive=SimpleNamespace(needs_supply=oil))
    taken = {}

    def left_by(areas, speeds):
        taken.update(areas=areas, speeds=speeds)
        return 7e6

    supply = SimpleNamespace(settles=True, left_by=left_by)
    own = SimpleNamespace(parts=(part(2.0), part(None), part(5.0)))
    plant = SimpleNamespace(supply=supply, actuators=[taking(True), taking(False), taking(True)])
    monkeypatch.setattr(forces.coordinates, "driven", lambda plant: [2, 1, 0])
    none = [[]] * 3
    ask = lambda: forces.Forces.asked(own, plant, [1, 2, 3], [0] * 3, [0.1, 9, -0.2], none, none)
    line = ask()
    assert (line.p_s, line.p_r, line.settled) == (7e6, 0.0, None)
    assert taken == {"areas": (2.0, 5.0), "speeds": (0.1, -0.2)}
    supply.settles = False
    assert ask() is None
    plant.supply = None
    assert ask() is None


@pytest.mark.parametrize("name", ["bears", "error", "most"])
def test_what_a_search_is_asked_to_keep_is_above_zero(name):
    for value in (0, -1):
        with pytest.raises(InputError, match=f"{name}: must be greater than zero"):
            ByRuns(**{name: value})
    assert getattr(ByRuns(**{name: 3}), name) == 3


@pytest.mark.parametrize("name", ["bears", "error"])
def test_what_a_search_is_asked_to_keep_is_a_number(name):
    with pytest.raises(InputError, match=f"{name}: must be greater than zero, got inf"):
        ByRuns(**{name: math.inf})
    with pytest.raises(InputError, match=f"{name}: expected a number or None, got nan"):
        ByRuns(**{name: math.nan})


@pytest.mark.parametrize("limits, S", [((10.0, 10.0), (20.0,)), ((10.0, 5.0), (20.0, 80.0))])
def test_settings_for_a_machine_whose_pistons_follow(monkeypatch, limits, S):
    """S is 2000 over the square of a valve's limit, one where all agree; noise and what a model misses by units."""
    signal = lambda name, unit: SimpleNamespace(name=name, unit=unit)
    valves = [signal("u_1", "V"), signal("u_2", "V")]
    ranges = dict(zip(("u_1", "u_2"), limits))
    monkeypatch.setattr(parts, "controls", lambda plant: valves)
    monkeypatch.setattr(parts, "_range", lambda plant, name: ranges[name])
    outputs = ("q", "rad"), ("dq", "rad/s"), ("dx", "m/s"), ("p", "Pa"), ("T", "K"), ("far", "rad")
    states = ("q", "rad"), ("w", "m/s"), ("p", "Pa"), ("u", "V"), ("du", "V/s"), ("T", "K")
    plant = SimpleNamespace(
        task_names=lambda space: ["x_1"] if space == "piston" else None,
        outputs=[signal(*one) for one in (*outputs, ("x_1", "m"))],
        states=[signal(*one) for one in states],
    )
    found = parts._on_pistons(plant, 5, ("f_x",))
    assert found["S"] == S and found["Q"] == (1e6,) and found["T_s"] == 20e-3 and found["N"] == 20
    assert found["signals"] == ("q", "dq", "dx", "p", "x_1") and found["tracked"] == ("x_1",)
    seen = found["observer"]
    assert seen.σ_y == (1e-5, 1e-4, 1e-4, 1e3, 1e-5)
    assert seen.σ_x == (1e-6, 1e-4, 1e3, 1e-3, 1e-1, 1e-6)
    assert seen.σ_d == pytest.approx((1e-4 * limits[0], 1e-4 * limits[1], 100.0))
    assert seen.disturbance == ("u_1", "u_2", "f_x")
    assert found["relinearise"] is True and found["terminal"] == "none"


def test_a_search_turns_whole_gains_unless_each_entry_is_asked_for():
    usual = ByRuns()
    assert usual.each is False and usual.free == () and usual.trade == "error"
    assert (usual.bears, usual.error, usual.most) == (None, None, None)
