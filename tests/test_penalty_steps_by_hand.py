"""Steps of the penalty method in NumPy on functions that are written down, its text by differences, and a run's books."""

import ctypes
from types import SimpleNamespace

import mechanisms as made
import numpy as np
import pytest

from plants.drives.laws import Force, SpringDamper
from plants.multibody import acting, tree
from plants.multibody.parts import Actuator, Pin
from plants.multibody.penalty import integrator as penalty
from plants.multibody.penalty import run as penalty_run
from plants.multibody.penalty.integrator import Penalty, Stepper, consistent
from plants.multibody.penalty.text import Text, _flat, _trapezoidal
from workbench.contract.errors import InputError
from workbench.contract.system import names
from workbench.numerics.calculus import trace

# ---- the steps ------------------------------------------------------------------------------------------------------------
SIZES = {"z": 2, "dz": 1, "ddz": 1, "y": 1, "dy": 1, "λ": 1, "u": 1, "h": 1, "α": 1}
H, α = 0.1, 50.0


class Written:
    """Functions of a step: x_0 = u by one iteration, x_1² = 4 by many; Φ = 0.01; W/A = 3/2, bias 0.5."""

    def __init__(self, which, calls, bad=()):
        self.which, self.calls, self.bad = which, calls, bad

    def flow(self, t, x, w, c):
        self.calls.append((self.which, np.array(x), np.array(w), c))
        if self.which == "metric":
            return [2.0, 3.0]
        if self.which == "bias":
            return [0.5]
        u = w[7]
        slope = np.nan if u in self.bad else 1.0
        f = [x[0] - u, x[1] ** 2 - 4]
        new = [10 + x[0], 20 + x[0], 7 * x[0], 9 * x[0], 11 * x[1]]
        return [*f, slope, 0.0, 0.0, 2 * x[1], 0.01, *new]


def stepped(U, most=50, bad=()):
    calls = []
    parts = {which: Written(which, calls, bad) for which in ("residual", "metric", "bias")}
    own = Stepper(SIZES, parts, ("rad", "Pa"))
    start = np.array([1.0, 2.0, 0.3, -0.4, 1.5, 0.2, 0.6])
    settings = Penalty(α=α, tolerance=1e-9, pressure_tolerance=1e-6, most=most)
    rows, counts, made_ = own.run(start, np.array(U)[:, None], H, settings, ["r", "m", "b"])
    return rows, counts, made_, calls


def test_a_step_ends_where_all_corrections_are_small():
    rows, counts, steps, calls = stepped([0.5, 0.7, 0.9])
    assert steps == 3 and counts[0] == 0 and counts[1] >= 4
    for k, u in ((1, 0.7), (2, 0.9)):
        # Positions, then (W ż)/A and (W z̈ − bias)/A, the drive's state with its slope, and λ + α Φ of every iteration.
        assert rows[k][:2] == pytest.approx([10 + u, 20 + u])
        assert rows[k][2:4] == pytest.approx([7 * u * 1.5, (9 * u * 3 - 0.5) / 2])
        assert rows[k][4:6] == pytest.approx([2.0, 22.0])
        assert rows[k][6] == pytest.approx(rows[k - 1][6] + counts[k] * α * 0.01)
    which, x, w, c = calls[0]
    assert (which, c) == ("residual", "r") and x == pytest.approx([0.03 - 0.002, 1.52])
    assert w == pytest.approx([1.0, 2.0, 0.3, -0.4, 1.5, 0.2, 0.6, 0.7, H, α])
    metric = next(call for call in calls if call[0] == "metric")
    assert metric[1] == pytest.approx([10.7, 20.7, 4.9, 2.0]) and metric[3] == "m"
    bias = next(call for call in calls if call[0] == "bias")
    assert bias[1] == pytest.approx([10.7, 20.7, 7 * 0.7 * 1.5, 2.0]) and bias[3] == "b"


def test_a_step_that_needs_too_many_iterations_or_has_no_slope_ends_it():
    rows, counts, steps, _ = stepped([0.5, 0.7, 0.9], most=2)
    assert steps == 1 and counts.tolist() == [0, 2, 0] and not rows[1].any()
    assert stepped([0.5, 0.7, 0.9], bad=(0.9,))[2] == 2
    assert stepped([0.5, np.inf])[2] == 1


def test_states_of_a_row_and_a_row_begun_anew():
    own = Stepper({**SIZES, "dz": 2, "ddz": 2, "y": 3, "dy": 3}, {}, ())
    row = np.arange(15.0)
    assert own.state(row).tolist() == [0, 1, 2, 3, 6, 7, 8]
    anew = own.restarted(row, np.arange(100.0, 107.0))
    assert anew.tolist() == [0, 1, 2, 3, 102, 103, 6, 7, 8, 104, 105, 106, 12, 13, 14]
    assert row[4] == 4.0


def test_settings_without_numbers():
    own = Penalty()
    assert (own.α, own.tolerance, own.pressure_tolerance, own.most) == (1e11, 1e-7, 1e-2, 50)
    assert Stepper(SIZES, {}, ()).work == 0
    assert penalty._compiled({}, {}, False) == (None, 0)


# ---- the text -------------------------------------------------------------------------------------------------------------
BARS = made.four_bar(
    method="penalty",
    actuators=(
        Actuator("push", Force(), Pin("ground", (-1.0, 0.0, 0.0)), Pin("crank", (1.0, 0.0, 0.0))),
        Actuator("spring", SpringDamper(900.0, 3.0, 40.0), Pin("crank", (0.7, 0.3, 0.0)), Pin("rocker", (1.2, 0.1, 0.0))),
    ),
)  # fmt: skip
AT = np.array(BARS.assembly.z) + [0.01, -0.02, 0.015]
OLD = {"dz": [0.4, -0.3, 0.2], "ddz": [1.1, 0.6, -0.9], "λ": [3.0, -2.0, 1.0, 0.5, -0.4]}
STEP, PENALTY, U = 0.02, 700.0, [250.0]


def given():
    own = Text(BARS, "residual")
    values = {"z": AT, "y": [], "dy": [], "u": U, "h": [STEP], "α": [PENALTY], **OLD}
    return own, [float(v) for name in own.sizes for v in values[name]]


def loads(z, rates):
    motion = BARS.moving(list(z), list(rates))
    pulls = BARS.pulls(motion, list(z), list(rates), [[], [], []], U)
    return np.array(BARS.loads(motion, tree.inertias(BARS.bodies, motion), list(rates), pulls), float)  # fmt: skip


def called(which, x):
    text = Text(BARS, which)
    traced = trace(text, names(text.inputs))
    _, w = given()
    return np.array(traced.flow(0.0, x, w, traced.constants(text))).ravel()


δ = np.array([0.004, -0.003, 0.006])


def residual(δ):
    """(h²/4)(M z̈ + Φ_zᵀ (α Φ + λ) − Q) at the end of a trapezoidal step."""
    z = AT + δ
    rates = 2 / STEP * δ - OLD["dz"]
    accelerations = 2 / STEP * (rates - np.array(OLD["dz"])) - OLD["ddz"]
    M = np.array(BARS.mass_matrix(list(z)), float)
    Φ, G = (np.array(v, float) for v in BARS.constraints(list(z)))
    held = G.T @ (PENALTY * Φ + OLD["λ"])
    return STEP**2 / 4 * (M @ accelerations + held - loads(z, rates)), Φ, z, rates, accelerations


def test_the_residual_its_tangent_and_what_a_step_ends_with():
    found = called("residual", δ)
    f, Φ, z, rates, accelerations = residual(δ)
    assert found[:3] == pytest.approx(f, rel=1e-9)
    columns = [(residual(δ + d)[0] - residual(δ - d)[0]) / 2e-6 for d in 1e-6 * np.eye(3)]
    assert found[3:12] == pytest.approx(np.ravel(columns), rel=1e-6, abs=1e-6)
    assert found[12:17] == pytest.approx(Φ, abs=1e-12)
    assert found[17:] == pytest.approx([*z, *rates, *accelerations])


def test_the_metric_of_the_projections():
    """W = M + (h/2) C + (h²/4) K with C = −∂Q/∂ż, K = −∂Q/∂z, and W + (h²/4) α Φ_zᵀ Φ_z."""
    rates = np.array([0.7, -0.5, 0.9])
    found = called("metric", [*AT, *rates]).reshape(2, 3, 3).transpose(0, 2, 1)
    e = 1e-6 * np.eye(3)
    C = -np.array([(loads(AT, rates + d) - loads(AT, rates - d)) / 2e-6 for d in e]).T
    K = -np.array([(loads(AT + d, rates) - loads(AT - d, rates)) / 2e-6 for d in e]).T
    W = np.array(BARS.mass_matrix(list(AT)), float) + STEP / 2 * C + STEP**2 / 4 * K
    G = np.array(BARS.constraints(list(AT))[1], float)
    assert found[1] == pytest.approx(W, rel=1e-6, abs=1e-4)
    assert found[0] - found[1] == pytest.approx(STEP**2 / 4 * PENALTY * G.T @ G, rel=1e-9)


def test_the_bias_of_the_accelerations():
    rates = np.array([0.7, -0.5, 0.9])
    slope = lambda t: np.array(BARS.constraints(list(AT + t * rates))[1], float) @ rates
    pushed = np.array(BARS.constraints(list(AT))[1], float).T @ (slope(1e-6) - slope(-1e-6)) / 2e-6
    wanted = STEP**2 / 4 * PENALTY * pushed
    assert called("bias", [*AT, *rates]) == pytest.approx(wanted, rel=1e-6, abs=1e-7)


def test_sizes_and_states_of_the_text():
    own, w = given()
    assert own.sizes == {"z": 3, "dz": 3, "ddz": 3, "y": 0, "dy": 0, "λ": 5, "u": 1, "h": 1, "α": 1}
    assert len(own.inputs) == len(w) == 17 and own.initial() == [0.0] * 3
    assert len(Text(BARS, "metric").states) == 6 == len(Text(BARS, "bias").initial())
    oily = Text(made.hydraulic(), "residual")
    assert oily.sizes["y"] == oily.sizes["dy"] == 4 and len(oily.states) == 7
    assert oily._parted(list(range(10))) == ([0, 1, 2], [3, 4, 5], [6, 7, 8, 9])
    assert _trapezoidal(0.1, [3.0], [1.0], [4.0]) == pytest.approx([36.0])
    assert _flat([[1, 2], [3, 4]]) == [1, 2, 3, 4]


def test_a_consistent_start_has_accelerations_slopes_and_all_multipliers():
    oily = made.hydraulic()
    x = oily.initial()
    x[3] = 0.2
    found = consistent(oily, x, [1.5])
    flow = np.array(oily.rhs(0.0, x, [1.5]), float)
    z, rates, own = oily.split(x)
    motion = oily.moving(z, rates)
    pulls = oily.pulls(motion, z, rates, own, [1.5])
    _, λ = oily.accelerations(motion, rates, pulls)
    assert found[:6] == pytest.approx(x[:6]) and found[6:9] == pytest.approx(flow[3:6])
    assert found[9:13] == pytest.approx(x[6:]) and found[13:17] == pytest.approx(flow[6:])
    assert found[17:] == pytest.approx([*λ, 0.0, 0.0, 0.0])
    assert acting.rates(oily, pulls, own, [1.5]) == pytest.approx(flow[6:])


# ---- a run ----------------------------------------------------------------------------------------------------------------
def booked(monkeypatch, period, length=0.1, step=0.02, made_=6):
    """What a run asks of its stepper, and what it hands to the log."""
    told = {}

    class Machine:
        def run(self, start, U, h, settings, constants):
            told.update(start=start, U=U, h=h, constants=constants)
            return np.arange(6.0)[:, None], np.arange(6) * 10, made_

    demand = SimpleNamespace(live=("u_push",), at=lambda t: 5.0 + t[:, None])
    monkeypatch.setattr(penalty_run, "Demand", lambda *a: demand)
    monkeypatch.setattr(penalty_run, "start_state", lambda *a: "x")
    monkeypatch.setattr(penalty_run, "stepper", lambda m, compiled: (Machine(), "c"))
    monkeypatch.setattr(penalty_run, "consistent", lambda m, x, u: (x, u.tolist()))
    monkeypatch.setattr(penalty_run, "_log", lambda m, s, *rest: rest)
    scenario = SimpleNamespace(max_step=step, length=lambda: length, log_period=period)
    rows, counts, U, h, every = penalty_run.simulate(BARS, scenario)
    return told, rows, counts, U, h, every


@pytest.mark.parametrize("period, every", [(None, 1), (0.02, 1), (0.061, 3), (0.001, 1)])
def test_inputs_at_the_ends_of_steps_and_how_often_they_are_logged(monkeypatch, period, every):
    told, rows, counts, U, h, found = booked(monkeypatch, period)
    assert told["U"][:, 0] == pytest.approx(5.0 + 0.02 * np.arange(6)) and U is told["U"]
    assert told["start"] == ("x", [5.0]) and (h, told["h"], found) == (0.02, 0.02, every)
    assert rows[:, 0].tolist() == [0, 1, 2, 3, 4, 5] and counts.tolist() == [0, 10, 20, 30, 40, 50]
    _, rows, counts, *_ = booked(monkeypatch, period, made_=4)
    assert len(rows) == len(counts) == 4


def test_the_method_works_on_all_coordinates():
    for other in (made.four_bar(method="minimal"), "a crane"):
        with pytest.raises(InputError, match="works on a mechanism with all its coordinates"):
            penalty_run.simulate(other)


def test_what_a_compiled_stepper_is_made_of(monkeypatch):
    """The largest work of its functions and one more, sizes by their macros, a call of two counts, two numbers, eight places."""
    told = {}
    monkeypatch.setattr(penalty, "renamed", lambda flow, which: SimpleNamespace(sz_w=lambda: flow))
    monkeypatch.setattr(penalty, "generated", lambda functions, macros, text: told.update(macros=macros))  # fmt: skip
    made_ = SimpleNamespace(penalise=SimpleNamespace())
    monkeypatch.setattr(penalty, "library", lambda text: made_)
    parts = {w: SimpleNamespace(flow=n) for w, n in (("residual", 7), ("metric", 31), ("bias", 5))}
    sizes = {"z": 4, "dz": 3, "y": 2, "λ": 5, "u": 1}
    lib, work = penalty._compiled(parts, sizes, None)
    assert lib is made_ and work == 32
    assert told["macros"] == {"NZ": 4, "NV": 3, "NY": 2, "NC": 5, "NU": 1}
    l, d, p = ctypes.c_long, ctypes.c_double, ctypes.c_void_p
    assert lib.penalise.argtypes == [l, l, d, d, *[p] * 8] and lib.penalise.restype is l
    monkeypatch.setattr(penalty, "library", lambda text: None)
    assert penalty._compiled(parts, sizes, True) == (None, 32)
