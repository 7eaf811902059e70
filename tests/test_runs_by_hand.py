"""What is read off a run, and whether time itself changes it, from logs and plants that are written down."""

from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest

from workbench import Scenario, Signal
from workbench.contract.parameters import Leaf
from workbench.verification.practical.later import timed, traced_memory
from workbench.verification.probability import rare
from workbench.verification.probability.runs import Said
from workbench.verification.run import Run, samples
from workbench.verification.search import moves, of_plant
from workbench.verification.temporal import signals
from workbench.verification.verdict import Verdict

T = np.array([0.0, 1.0, 2.0, 3.0])


class Log(dict):
    array = dict.__getitem__
    names = property(lambda self: tuple(self))

    def __init__(self, time=T, **given):
        super().__init__({name: np.array(v, float) for name, v in given.items()})
        self.time = np.array(time, float)


# ---- how far a run of a search is off -----------------------------------------------------------
def moved(monkeypatch, before, after, scale=None, unit="m", time=T):
    """The largest distance of a signal x, and of one that stands still, from the run without deviations."""
    own = SimpleNamespace(value=scale)
    known = SimpleNamespace(of_unit=lambda unit: None if scale is None else own)
    monkeypatch.setattr(moves, "scales", lambda plant: known)
    plant = SimpleNamespace(
        states=(Signal("x", unit), Signal("absent", "m")), outputs=(Signal("y", "m"),)
    )
    still = {"y": np.ones(len(time))}
    run = SimpleNamespace(log=Log(time, x=after, **still), loop=SimpleNamespace(plant=plant))
    nominal = SimpleNamespace(log=Log(x=before, y=np.ones(4)))
    return moves.move(run, nominal)


def test_a_run_is_off_by_a_share_of_the_largest_value_or_of_the_machines_own(monkeypatch):
    """x = 0, 1, −4, 2 and 0, 1, −4, 3: off by 1 of 4; of a machine of 10 a tenth."""
    before, after = [0.0, 1.0, -4.0, 2.0], [0.0, 1.0, -4.0, 3.0]
    assert moved(monkeypatch, before, after) == pytest.approx(1 / 4)
    assert moved(monkeypatch, before, after, scale=10.0) == pytest.approx(1 / 10)
    assert moved(monkeypatch, before, after, scale=2.0) == pytest.approx(1 / 4)
    assert moved(monkeypatch, before, [0.0, -1.0, -4.0, 2.0]) == pytest.approx(2 / 4)


def test_a_run_is_off_where_both_have_come_to(monkeypatch):
    """Between samples the other is straight; after its end nothing is compared; what is no number is off by all."""
    line = [0.0, 1.0, 2.0, 4.0]
    late = np.array([0.5, 2.5, 3.5])
    assert moved(monkeypatch, line, [0.5, 3.0, 99.0], time=late) == 0.0
    assert moved(monkeypatch, line, [0.5, 3.6, 99.0], time=late) == pytest.approx(0.6 / 3.0)
    assert moved(monkeypatch, line, [0.0, np.nan, 2.0, 4.0]) == np.inf


@pytest.mark.parametrize("unit, size", [("m", 1e-3), ("rad", 1e-2), ("Pa", 1e5), ("V", 1e-2)])
def test_of_what_never_moved_a_usual_size_counts(monkeypatch, unit, size):
    found = moved(monkeypatch, [0.0] * 4, [0.0, size, 0.0, -2 * size], unit=unit)
    assert found == pytest.approx(2.0)


# ---- places of a run ------------------------------------------------------------------------------
def a_run(**given):
    own = object.__new__(Run)
    for name, value in given.items():
        own.__dict__[name] = value
    return own


@pytest.mark.parametrize("k, end, row", [(0, 0, 0), (1, 1, 0), (2, 0, 1), (5, 1, 2)])
def test_the_ledger_at_one_of_the_instants_alternates(k, end, row):
    """After the first sample, before the second, after the second …"""
    made = [(T + 10 * i, np.arange(8.0).reshape(4, 2) + 100 * i, T[:, None] - i) for i in (0, 1)]
    ledger = lambda loop, t, x, w: (t.tolist(), x.tolist(), w.tolist())
    own = a_run(ends=made, ledger=ledger, loop=None)
    t, x, w = made[end]
    assert own.at(k) == ([t[row]], [x[row].tolist()], [w[row].tolist()])
    alone = a_run(ends=made[:1], ledger=ledger, loop=None)
    assert alone.at(2)[0] == [2.0]


@pytest.mark.parametrize("after, first", [(0.0, 0), (4.0, 4), (4.5, 5), (9.0, 9), (50.0, 9)])
def test_a_run_is_settled_from_some_time_on_or_in_its_last_tenth(after, first):
    own = a_run(log=Log(np.arange(10.0)))
    assert own.settled(after) == slice(first, None)


@pytest.mark.parametrize(
    "period, step, rows", [(0.01, 1e-3, 3000), (1e-4, 1e-3, 30_000), (None, 1e-3, 3000)]
)
def test_how_many_rows_a_run_makes(period, step, rows):
    job = SimpleNamespace(period=period), Scenario(3.0, max_step=step)
    assert samples(job) == pytest.approx(rows)


# ---- signals of sentences ---------------------------------------------------------------------------
def test_signals_that_no_log_has(monkeypatch):
    plant = SimpleNamespace(pressure_names=("p_a", "p_b"))
    log = Log(p_a=[1.0, 5.0, 3.0, 2.0], p_b=[2.0, 4.0, -1.0, 2.0], x=T)
    fine = SimpleNamespace(log=log, tool_error=T + 1, loop=SimpleNamespace(plant=plant))
    run = SimpleNamespace(fine=fine)
    reached = {"at stroke": T + 7}
    monkeypatch.setattr(signals, "storage", lambda run: T + 2)
    monkeypatch.setattr(signals, "at_limit", lambda run: T + 3)
    monkeypatch.setattr(signals, "overshoot", lambda run: T + 4)
    monkeypatch.setattr(signals, "joint_errors", lambda run: {"x": T + 5, "at stroke": T})
    monkeypatch.setattr(signals, "at_machine_limit", lambda run, name: reached.get(name))
    monkeypatch.setattr(signals, "_tool", lambda fine, axis: T + 20 + axis)
    asked = [
        "x",
        "tool_error",
        "v",
        "at_limit",
        "overshoot",
        "e_x",
        "at stroke",
        "e_tcp_y",
        "e_none",
    ]
    found = signals.columns(run, asked)
    assert found.pop("e_none") is None
    begins = {name: float(values[0]) for name, values in found.items()}
    assert begins == {
        "x": 0.0, "tool_error": 1.0, "v": 2.0, "at_limit": 3.0, "overshoot": 4.0, "e_x": 5.0,
        "at stroke": 7.0, "e_tcp_y": 21.0,
    }  # fmt: skip
    extremes = signals.columns(run, ["p_lowest", "p_highest"])
    assert extremes["p_lowest"].tolist() == [1.0, 4.0, -1.0, 2.0]
    assert extremes["p_highest"].tolist() == [2.0, 5.0, 3.0, 2.0]


# ---- time itself --------------------------------------------------------------------------------------
def traced_of(flow, jump=None):
    """A loop of two states and one input that is an expression."""
    a = [ca.SX.sym(name, n) for name, n in (("t", 1), ("x", 2), ("w", 1), ("c", 1))]
    return [ca.Function("f", a, [ca.vertcat(*made(*a))]) for made in (flow, jump) if made]


def asked(maps, clocks=None, margins=None, row=2):
    own = object.__new__(timed._Traced)
    own.maps, own.clocks, own.compared, own.n = maps, clocks or {}, margins, 2
    own.x, own.w = np.array([3.0, 5.0]), np.array([7.0])
    own.off, own.constants = np.array([0.5, 0.0]), np.array([11.0])
    return own


def test_what_a_loop_does_at_any_time_and_by_how_much_otherwise_beside_it():
    """ẋ = (t x₀ + c, x₁² w) and a jump to (x₁, t): values, then what half of x₀ changes."""
    maps = traced_of(lambda t, x, w, c: (t * x[0] + c, x[1] ** 2 * w), lambda t, x, w, c: (x[1], t))
    assert asked(maps)(2.0).tolist() == [17.0, 175.0, 5.0, 2.0, 1.0, 0.0, 0.0, 0.0]
    assert asked(maps)(4.0).tolist() == [23.0, 175.0, 5.0, 4.0, 2.0, 0.0, 0.0, 0.0]


def test_a_state_that_counts_goes_with_time_and_is_left_out():
    maps = traced_of(lambda t, x, w, c: (x[0] + x[1], x[1] + w))
    own = asked(maps, {1: (1.0, 10.0)})
    assert own(2.0).tolist() == [24.0, 0.0, 0.5, 0.0]
    assert own.x.tolist() == [3.0, 5.0]


def test_margins_of_comparisons_with_time():
    a = [ca.SX.sym(name, n) for name, n in (("t", 1), ("x", 2), ("w", 1), ("c", 1))]
    t, x, w, c = a
    compared = ca.Function("m", a, [ca.vertcat(t - x[0], x[1] + w - c)])
    own = asked([], {1: (1.0, 10.0)}, compared)
    assert own.margins(np.array([0.0, 2.0])).tolist() == [[-3.0, -1.0], [-3.0, 17.0]]
    assert asked([]).margins(np.zeros(3)).shape == (0, 3)


def test_a_plant_beside_a_called_law_at_any_time():
    own = object.__new__(timed._Plant)
    own.plant = SimpleNamespace(
        rhs=lambda t, x, u: [t * x[0] + u[0], x[1]], out=lambda t, x: [x[0] - t]
    )
    own.x, own.u, own.off = np.array([3.0, 5.0]), [2.0], np.array([0.5, 0.25])
    own.traced = own.compared = None
    assert own(4.0).tolist() == [14.0, 5.0, -1.0, 2.0, 0.25, 0.5]
    assert own.margins(np.zeros(3)).shape == (0, 3)


@pytest.mark.parametrize("knows", [True, False])
def test_comparisons_of_a_plant_with_time_are_read_off_its_flow(monkeypatch, knows):
    monkeypatch.setattr(timed, "moved", lambda run: np.array([0.5, 9.0]))
    monkeypatch.setattr(timed, "inputs_at", lambda run, row: [row])
    asked = []
    monkeypatch.setattr(timed, "of_time", lambda *given: asked.append(given) or "margins")
    plant = SimpleNamespace(states=(Signal("x", "m"),))
    run = SimpleNamespace(loop=SimpleNamespace(plant=plant), log=Log(x=[1.0, 2.0, 3.0, 4.0]))
    traced = SimpleNamespace(flow="flow") if knows else None
    own = timed._Plant(run, traced, 2)
    assert own.compared == ("margins" if knows else None)
    assert asked == ([(traced, ["flow"], [])] if knows else [])
    assert (own.x.tolist(), own.u, own.off.tolist()) == ([3.0], [2], [0.5])


def test_numbers_of_a_memory_that_run_on_are_looked_at_from_begin_to_end(monkeypatch):
    looked = []
    running = lambda time, values: looked.append((time[0], time[-1], len(time))) or values[-1]
    monkeypatch.setattr(traced_memory, "running_on", running)
    own = SimpleNamespace(states=(Signal("z", "1"), Signal("gone", "1")))
    monkeypatch.setattr(traced_memory, "innermost", lambda controller: own)
    states = tuple(Signal(name, "1") for name in ("x", "z_held", "z"))
    loop = SimpleNamespace(controller=None, states=states)
    log = Log(np.arange(501.0), z=2.0 * np.arange(501.0))
    assert traced_memory._rates(SimpleNamespace(loop=loop, log=log)) == {2: 1000.0}
    assert looked == [(0.0, 500.0, traced_memory.LOOKS)]


def test_inputs_of_a_plant_at_a_row():
    plant = SimpleNamespace(
        inputs=[Signal(n, "V") for n in ("u", "F", "g")], defaults=lambda: {"F": 9.0, "u": 8.0}
    )
    controller = SimpleNamespace(commands=(Signal("u", "V"),))
    loop = SimpleNamespace(plant=plant, controller=controller)
    run = SimpleNamespace(loop=loop, log=Log(u=[1.0, 2.0, 3.0, 4.0]))
    assert timed.inputs_at(run, 2) == [3.0, 9.0, 0.0]
    assert list(timed._rows(SimpleNamespace(log=Log(np.arange(101.0))))) == [5, 50, 100]
    assert list(timed._rows(SimpleNamespace(log=Log(T)))) == [0, 2, 3]


@pytest.mark.parametrize(
    "changes, opened",
    [
        ({}, True),
        ({"counted": False}, False),
        ({"holds": False}, False),
        ({"key": "tracking"}, False),
    ],
)
def test_what_holds_of_stability_is_open_where_time_changes_the_loop(monkeypatch, changes, opened):
    monkeypatch.setattr(timed, "timed", lambda run: "at t = 9 s the law is another")
    given = {
        "key": "practical-stability",
        "claim": "t",
        "holds": True,
        "strength": "sampled",
    } | changes
    (found,) = timed.beyond_the_run(None, [Verdict(worst="3 mm", **given)])
    assert (found.holds is None) is opened
    assert found.worst.startswith("time itself may change the loop: at t = 9 s") is opened
    monkeypatch.setattr(timed, "timed", lambda run: "")
    assert timed.beyond_the_run(None, [found]) == [found]


# ---- small numbers ------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "said, score",
    [
        (Said(True, 2.0), -2.0),
        (Said(True, -2.0), 0.0),
        (Said(False, -3.0), 3.0),
        (Said(False, 3.0), np.finfo(float).tiny),
        (Said(False, 0.0), np.finfo(float).tiny),
    ],
)
def test_a_score_is_above_zero_where_a_sentence_is_not_met(said, score):
    assert rare._score(said) == score


@pytest.mark.parametrize(
    "high, holds, left",
    [
        (0.02, None, "; more runs tell it closer"),
        (0.01, None, "; it is below what is allowed"),
        (9.0, False, ""),
    ],
)
def test_what_is_left_to_do_where_an_estimate_refutes_nothing(high, holds, left):
    claim = SimpleNamespace(at_most=0.01, share=0.01)
    said = rare._left(claim, high, holds)
    assert said.startswith(left) and bool(said) is bool(left)
    if high == 0.01:
        assert said.endswith("which 459 runs drawn at random without a violation can show")


def test_forces_of_friction_are_in_newton(monkeypatch):
    """All numbers below a law of friction whose unit begins with N: forces, torques, per speed; no speeds, no times."""
    units = {
        "lift.friction.F_c": "N", "lift.friction.b": "N s/m", "tilt.friction.σ_0": "N/m",
        "lift.friction.v_s": "m/s", "lift.mass": "kg", "friction": "N", "lift.F_0": "N",
        "tilt.friction.deep.M": "N m", "tilt.friction.n": "1",
    }  # fmt: skip
    leaves = [Leaf(path, 1.0, SimpleNamespace(unit=unit), False) for path, unit in units.items()]
    monkeypatch.setattr(of_plant, "leaves", lambda plant: leaves)
    found = [leaf.path for leaf in of_plant.forces_of_friction(None)]
    assert found == [
        "lift.friction.F_c",
        "lift.friction.b",
        "tilt.friction.σ_0",
        "tilt.friction.deep.M",
    ]
