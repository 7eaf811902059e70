"""Parts of verdicts alone, each against its answer by hand: wires, responses, hypotheses, errors, rates of v, the sample map."""

import math
from dataclasses import dataclass, fields
from types import SimpleNamespace
from typing import get_args

import numpy as np
import pytest
from scipy.linalg import expm

from controllers.pid.law import PID
from plants import LinearActuator
from tests.small import Feedback, Linear
from workbench import ClosedLoop, Delayed, Filtered, Noisy, Quantised, Sampled, Saturated
from workbench.contract.system import Signal
from workbench.contract.wrappers import dead_time
from workbench.run.log import Log, Status
from workbench.verification.cause import wiring as cause_wiring
from workbench.verification.checked import Checked
from workbench.verification.claims import Claim
from workbench.verification.hypotheses.signal_path import signal_path, wrappers
from workbench.verification.ledger.balance import (
    Balance,
    Entry,
    LedgerFunction,
    has_ledger,
    ledger_function,
    rate_of,
)
from workbench.verification.linear import local
from workbench.verification.linear.local import _deflate, chambers
from workbench.verification.linear.local_claim import steep_states
from workbench.verification.linear.resting import Rest, monodromy
from workbench.verification.regions.sector import Sector
from workbench.verification.results import arrays as report_arrays
from workbench.verification.rigorous.claims import _response
from workbench.verification.rigorous.motion import Motion
from workbench.verification.rigorous.supplied_search import Search

ACTUATOR = LinearActuator()


def pid():
    return PID(ACTUATOR, K_p=(0.3,), K_i=(0.0,), feed="none", damping="none")


# ---- wires ----------------------------------------------------------------------------------------------------------------
class Law:
    """u = (z + 2 y_1 − y_2, 3 r + t): one state, two measurements, one reference."""

    states = (Signal("z"),)
    measured = (Signal("y_1"), Signal("y_2"))
    references = (Signal("r"),)

    def command(self, t, z, y, r):
        assert len(z) == 1 and len(y) == 2 and len(r) == 1
        return [z[0] + 2 * y[0] - y[1], 3 * r[0] + t]


def test_a_law_is_asked_with_its_own_numbers_of_those_of_its_wrappers():
    """Memory, measurements and references beyond its own, which wrappers add behind them, are not the law's."""
    ask = cause_wiring.traced(Law())
    assert ask(0.5, [1.0, 9.0], [2.0, 3.0, 9.0], [4.0, 9.0]) == pytest.approx([2.0, 12.5])
    assert ask(0.0, [1.0], [0.0, 0.0], [1.0]) == pytest.approx([1.0, 3.0])


def logged_run(rows=100, left=math.inf, hole=None):
    """x = (k, −k) of a plant, memory 7 + k; outputs x_0 + 10 x_1 and 2 x_0; a live load, a still one and a reference."""
    k = np.arange(float(rows))
    time = 0.1 * k
    signals = [Signal(n) for n in ("x0", "x1", "z")]
    values = np.column_stack([k, -k, 7 + k])
    if hole is not None:
        values[hole, 1] = np.nan
    log = Log(time, values, tuple(signals), {}, Status(True, "ended", time[-1]))
    outputs = (Signal("b"), Signal("a"))
    plant = SimpleNamespace(
        limits=lambda: {},
        states=signals[:2],
        outputs=outputs,
        out=lambda t, x: [x[0] + 10 * x[1], 2 * x[0]],
    )
    inputs = (
        Signal("push", kind="disturbance"),
        Signal("pull", kind="disturbance"),
        Signal("r", kind="reference"),
        Signal("s", kind="reference"),
        Signal("e", kind="reference"),
    )
    loop = SimpleNamespace(
        plant=plant,
        inputs=inputs,
        states=signals,
        defaults=lambda: {"s": 5.0},
        controller=SimpleNamespace(measured=(Signal("a"),)),
    )
    demand = SimpleNamespace(live=("push", "r"), at=lambda t: np.column_stack([0 * t, 100 + t]))
    return SimpleNamespace(loop=loop, log=log, left=(left, ""), demand=demand)


def test_samples_at_which_a_law_is_asked():
    """24 rows from the second to the last; memory is what follows the plant's states, references what follows the loads."""
    found = list(cause_wiring.samples(logged_run()))
    assert len(found) == 24
    assert found[0][0] == pytest.approx(0.1) and found[-1][0] == pytest.approx(9.9)
    for t, z, y, r in found:
        k = round(10 * t)
        assert z == [7.0 + k] and y == [2.0 * k] and r == pytest.approx([100 + t, 5.0, 0.0])


def test_samples_end_where_the_machine_is_left_and_leave_out_what_is_no_number():
    assert list(cause_wiring.samples(logged_run(left=3.0)))[-1][0] == pytest.approx(3.0)
    assert [t for t, *_ in cause_wiring.samples(logged_run(rows=1))] == [0.0]
    assert len(list(cause_wiring.samples(logged_run(rows=4)))) == 3
    assert [round(10 * t) for t, *_ in cause_wiring.samples(logged_run(4, hole=2))] == [1, 3]


# ---- the response of a sector's linear part -------------------------------------------------------------------------------
def test_the_response_behind_a_sector():
    """C (jω − A)⁻¹ B from a hundredth of the slowest pole to thirty times the fastest; integrators do not count."""
    A = np.diag([-2.0, -50.0, 0.0])
    B = np.array([[1.0], [3.0], [0.5]])
    C = np.array([[2.0, -1.0, 4.0]])
    ω, G = _response(Sector(A, B, C, 0.0, 1.0))
    assert len(ω) == 400 and ω[0] == pytest.approx(0.01 * min(1.0, 2.0))
    assert ω[-1] == pytest.approx(30 * 50.0)
    s = 1j * ω
    assert G == pytest.approx(2.0 / (s + 2) - 3.0 / (s + 50) + 2.0 / s)
    slow, _ = _response(Sector(0.05 * A, B, C, 0.0, 1.0))
    assert slow[0] == pytest.approx(0.01 * 0.1) and slow[-1] == pytest.approx(30 * 2.5)
    none, _ = _response(Sector(0 * A, B, C, 0.0, 1.0))
    assert none[0] == pytest.approx(1e-2) and none[-1] == pytest.approx(1e2)


def test_the_response_of_a_sampled_one_ends_at_half_its_frequency():
    T = 0.02
    A = np.diag(np.exp([-3.0 * T, -40.0 * T]))
    B, C = np.array([[1.0], [2.0]]), np.array([[1.0, 5.0]])
    ω, G = _response(Sector(A, B, C, 0.0, 1.0, T))
    assert ω[0] == pytest.approx(min(0.01, 1e-3 * np.pi / T)) and ω[-1] == pytest.approx(np.pi / T)
    z = np.exp(1j * ω[:-1] * T)
    assert G[:-1] == pytest.approx(1 / (z - A[0, 0]) + 10 / (z - A[1, 1]))
    quick, _ = _response(Sector(np.diag([np.exp(-0.03), 0.0]), B, C, 0.0, 1.0, 1e-4))
    assert quick[0] == pytest.approx(0.01) and quick[-1] == pytest.approx(np.pi / 1e-4)
    assert _response(Sector(A, np.eye(2), np.eye(2), 0.0, 1.0, T)) is None


# ---- hypotheses about the path of signals ---------------------------------------------------------------------------------
@dataclass(frozen=True)
class Own:
    """A wrapper nobody knows."""

    inner: object
    supplies: tuple = ()
    period: float | None = None


def path(controller):
    found = signal_path(SimpleNamespace(loop=SimpleNamespace(controller=controller)))
    return [(a.holds, a.worst) for a in found]


@pytest.mark.parametrize(
    "wrap, hold, delay, measured",
    [
        (lambda law: law, "", "", ""),
        (lambda law: Sampled(law, 2e-3), "hold 2 ms", "", ""),
        (lambda law: Delayed(Sampled(law, 2e-3), 3e-3), "hold 2 ms", "delay 3 ms", ""),
        (lambda law: Noisy(law, 0.0), "", "", ""),
        (lambda law: Noisy(law, 1e-5), "", "", "noise"),
        (lambda law: Saturated(law, -1.0, 1.0), "", "", ""),
        (lambda law: Quantised(law, 1e-3), "", "", "quantised"),
        (lambda law: Filtered(law, 24.0), "", "", "filter 24 Hz"),
    ],
)
def test_what_stands_between_plant_and_law(wrap, hold, delay, measured):
    found = path(wrap(pid()))
    assert len(found) == 3
    for words, (met, worst) in zip((hold, delay, measured), found):
        assert met is (words == "") and worst == words


def test_a_wrapper_nobody_knows_leaves_it_open_unless_it_supplies():
    around = Own(Own(pid()), supplies=())
    found = path(around)
    assert len(found) == 4 and found[-1] == (None, "Own, Own")
    assert len(path(Own(pid(), supplies=("friction",)))) == 3
    assert [type(w) for w in wrappers(around)] == [Own, Own]


# ---- errors that a report draws ---------------------------------------------------------------------------------------------
def tracked(e, t=None):
    """A log in which y_d − y = e."""
    t = np.arange(float(len(e))) if t is None else np.array(t)
    columns = {"y_d": 5.0 + np.array(e), "y": np.full(len(e), 5.0)}
    signals = tuple(Signal(n, "m") for n in columns)
    return Log(
        t, np.column_stack(list(columns.values())), signals, {}, Status(True, "ended", t[-1])
    )


def test_errors_from_settling_on():
    """The largest by size and when, and √(1/T ∫e²) of what is no earlier than `settle`."""
    e = [9.0, -3.0, 1.0, -2.0, 1.0]
    found = report_arrays.error(tracked(e), "y", 1.0)
    assert found["error"] == pytest.approx(e) and found["largest"] == pytest.approx(3.0)
    squares = (9 + 1) / 2 + (1 + 4) / 2 + (4 + 1) / 2
    assert found["at"] == 1.0 and found["rms"] == pytest.approx(math.sqrt(squares / 3))
    late = report_arrays.error(tracked(e), "y", 1.5)
    assert late["largest"] == pytest.approx(2.0) and late["at"] == 3.0


def test_errors_where_settling_leaves_too_little_or_nothing_is_a_number():
    e = [9.0, -3.0, 1.0]
    assert report_arrays.error(tracked(e), "y", 2.0)["at"] == 0.0  # one sample is none
    assert report_arrays.error(tracked(e), "y", 1.0)["at"] == 1.0  # two are two
    holes = report_arrays.error(tracked([np.nan, 2.0, np.inf, -4.0]), "y", 0.5)
    assert holes["at"] == 3.0 and holes["largest"] == pytest.approx(4.0)
    assert holes["rms"] == pytest.approx(math.sqrt((4 + 16) / 2))
    two = report_arrays.error(tracked([1.0, np.nan, 2.0]), "y", 0.0)
    assert two["largest"] == pytest.approx(2.0)
    none = report_arrays.error(tracked([np.nan, 2.0, np.nan], [4.0, 5.0, 6.0]), "y", 0.0)
    assert np.isnan(none["rms"]) and np.isnan(none["largest"]) and none["at"] == 4.0
    assert len(none["error"]) == 3


# ---- the ledger of a law with one entry --------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Kept(Feedback):
    """A law that keeps books of v = x_0² y0_d + 5, wrongly named nowhere."""

    def certificate(self, plant):
        return self

    def entries(self, loop, t, x, w, rates):
        r = w[[s.name for s in loop.inputs].index("y0_d")]
        first = Entry(
            "s",
            "a",
            x[0] * x[0] * r + 5.0,
            2.0 * x[0],
            {"cut": 3.0 * x[0], "tip": 4.0 * x[1]},
            {"d": 7.0 * x[1]},
            11.0,
        )
        second = Entry("s", "b", x[1], x[1] * x[1], {"cut": -3.0 * x[0]}, {}, 13.0)
        return [first, second], {"room": x[0] - t}

    @property
    def references(self):
        return (
            Signal("y0_d", "1", "wanted", "reference"),
            Signal("dy0_d", "1", "its rate", "reference"),
        )

    def command(self, t, z, y, r):
        return [-self.K[0][0] * y[0]]


PLANT = Linear(A=((0.0, 1.0), (-2.0, -0.5)), B=((0.0,), (1.5,)), C=((1.0, 0.0),))


def test_the_rate_of_v_has_what_moves_by_itself_in_it():
    """v̇ = 2 x ẋ r + x² ṙ: ṙ from the live input that is the rate of r; nothing where nobody knows it."""
    loop = ClosedLoop(PLANT, Kept(PLANT, ((0.8,),)))
    live = ("y0_d", "dy0_d")
    f = LedgerFunction(loop, live)
    x = np.array([[0.7, -0.4], [0.2, 1.3]])
    w = np.array([[2.0, 9.0], [-1.0, 0.5]])
    t = np.array([0.1, 0.2])
    b = f(loop, t, x, w)
    rise = x[:, 1]
    pull = -2.0 * x[:, 0] - 0.5 * x[:, 1] - 1.5 * 0.8 * x[:, 0]
    assert b.v[:, 0] == pytest.approx(x[:, 0] ** 2 * w[:, 0] + 5.0)
    assert b.vdot[:, 0] == pytest.approx(2 * x[:, 0] * rise * w[:, 0] + x[:, 0] ** 2 * w[:, 1])
    assert b.vdot[:, 1] == pytest.approx(pull)
    assert b.dissipation[:, 0] == pytest.approx(2 * x[:, 0])
    assert b.dissipation[:, 1] == pytest.approx(x[:, 1] ** 2)
    assert b.scale.tolist() == [[11.0, 13.0]] * 2 and b.entries == (("s", "a"), ("s", "b"))
    assert b.flows["s", "a", "tip"] == pytest.approx(4 * x[:, 1])
    assert b.flows["s", "b", "cut"] == pytest.approx(-3 * x[:, 0])
    assert b.perturbations["s", "a", "d"] == pytest.approx(7 * x[:, 1])
    assert b.quantities["room"] == pytest.approx(x[:, 0] - t)
    assert b.total == pytest.approx(b.v[:, 0] + b.v[:, 1])
    assert b.total_rate == pytest.approx(b.vdot[:, 0] + b.vdot[:, 1])
    assert f.storage(loop, t, x, w) == pytest.approx(b.total)
    assert b.cuts()["cut"] == pytest.approx(0.0) and b.perturbation()["tip"] == pytest.approx(
        4 * x[:, 1]
    )
    assert has_ledger(loop) and not has_ledger(ClosedLoop(PLANT, Feedback(PLANT, ((0.8,),))))


def test_a_reference_alone_has_no_rate_and_a_live_one_is_not_its_default():
    """With y0_d alone alive its rate counts as zero; with nothing alive references are at their defaults."""
    loop = ClosedLoop(PLANT, Kept(PLANT, ((0.8,),)))
    x = np.array([[0.7, -0.4]])
    b = LedgerFunction(loop, ("y0_d",))(loop, [0.0], x, np.array([[2.0]]))
    assert b.vdot[0, 0] == pytest.approx(2 * 0.7 * -0.4 * 2.0)
    still = LedgerFunction(loop, ())(loop, [0.0], x, np.zeros((1, 0)))
    assert still.v[0, 0] == pytest.approx(5.0) and still.vdot[0, 0] == pytest.approx(0.0)
    assert ledger_function(loop, ()) is ledger_function(loop, ())
    assert ledger_function(loop, ()) is not ledger_function(loop, ("y0_d",))


@pytest.mark.parametrize(
    "name, rate",
    [
        ("q_1_d", "dq_1_d"),
        ("dq_1_d", "ddq_1_d"),
        ("V_b_x", "A_b_x"),
        ("ω_b_z", "α_b_z"),
        ("F_ext", None),
        ("u", None),
    ],
)
def test_the_rate_of_an_input(name, rate):
    assert rate_of(name) == rate


def test_a_weight_is_no_smaller_than_a_hundredth_of_its_median():
    scale = np.array([[100.0, 2.0], [0.5, 2.0], [100.0, 0.0]])
    zeros = np.zeros((3, 2))
    b = Balance(np.arange(3.0), (("s", "a"), ("s", "b")), zeros, zeros, zeros, scale, {}, {}, {})
    assert b.weight.tolist() == [[100.0, 2.0], [1.0, 2.0], [100.0, 0.02]]


# ---- the loop from sample to sample -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("lag", [0.0, 0.03])
def test_the_sample_map_is_jump_then_flow_then_release_then_flow(lag):
    """M = e^{A(T−lag)} R e^{A lag} J; a signal at a command enters its held state, and the valve too where nothing delays it."""
    rng = np.random.default_rng(3)
    T = 0.1
    A, J, R = (rng.normal(size=(4, 4)) for _ in range(3))
    law = Delayed(Sampled(pid(), T), lag) if lag else Sampled(pid(), T)
    states = [Signal(name) for name in ("a", "X_held", "X_applied", "b")]
    loop = SimpleNamespace(period=T, lag=lag, controller=law, states=states)
    assert dead_time(law) in (0.0, lag)
    jac = {"jump": lambda *_: [J], "release": lambda *_: [R]}
    M, B, C = monodromy(Rest(loop, None, jac, None, None, None), A)
    after = expm(A * (T - lag)) @ (R @ expm(A * lag) if lag else np.eye(4))
    assert pytest.approx(after @ J) == M and pytest.approx(J[[1]]) == C
    enter = np.array([0.0, 1.0, 0.0 if dead_time(law) else 1.0, 0.0])
    assert B[:, 0] == pytest.approx(after @ enter)


class Cylinder(SimpleNamespace):
    pass


SIZES = np.array([1.0, 1e6, 1e6, 1e6, 1e6])
STATE = ["q", "p_a_1", "p_b_1", "p_a_1_slow", "p_b_1_slow"]


def paired(λ, T=None, tilt=0.0, slow=True):
    """A linearisation whose common modes of both pairs have the rates λ, and what is left of it after they are taken out."""
    cylinder = Cylinder(A_a=3.0, A_b=4.0)
    plant = SimpleNamespace(labels=("_1",), cylinders=(cylinder,))
    rng = np.random.default_rng(6)
    F = rng.normal(size=(3, 3))
    Q = np.zeros((5, 3))
    Q[0, 0] = 1.0
    Q[1:3, 1] = Q[3:5, 2] = 0.6, -0.8
    D = np.zeros((5, 2))
    D[1:3, 0] = D[3:5, 1] = 0.8, 0.6
    A = Q @ F @ Q.T + D @ np.diag(λ) @ D.T + tilt * np.outer(Q[:, 0], D[:, 0])
    b, c = rng.normal(size=(3, 1)), rng.normal(size=(1, 3))
    found = local.Local(
        (1,),
        A * SIZES[:, None] / SIZES,
        Q @ b * SIZES[:, None],
        c @ Q.T / SIZES,
        T,
        tuple(STATE),
        0.25,
        0,
        0.0,
    )
    return _deflate(found, plant, SIZES), F, b, c


@pytest.mark.parametrize("T, λ", [(None, (0.0, 0.0)), (None, (-3.0, 0.0)), (0.1, (1.0, 0.9))])
def test_common_pressures_that_stay_or_die_away_are_taken_out(T, λ):
    """What is left moves as it did along f_p of each pair, in units of the areas; nothing leaks."""
    found, F, b, c = paired(λ, T)
    assert found.deflated == 2 and found.leak < 1e-9 and found.residual == 0.25
    assert found.states == ("q", "f_p_1", "f_p_1_slow") and found.T == T
    assert pytest.approx(F) == found.A and pytest.approx(b) == found.B
    assert pytest.approx(c) == found.C


@pytest.mark.parametrize(
    "T, λ, tilt",
    [(None, (0.1, 0.0), 0.0), (0.1, (1.1, 0.5), 0.0), (0.1, (-1.1, 0.5), 0.0), (None, (0, 0), 0.1)],
)
def test_common_pressures_that_grow_or_push_are_kept(T, λ, tilt):
    found, *_ = paired(λ, T, tilt)
    assert found.deflated == 0 and found.A.shape == (5, 5) and found.states == tuple(STATE)
    assert found.leak == pytest.approx(tilt, abs=1e-9)
    bare = SimpleNamespace(labels=(), cylinders=())
    assert _deflate(found, bare, SIZES).A.shape == (5, 5)


def test_chambers_are_paired_by_name():
    a, b = Cylinder(A_a=1.0, A_b=2.0), Cylinder(A_a=3.0, A_b=4.0)
    plant = SimpleNamespace(labels=("_1", "_2"), cylinders=(a, b))
    found = chambers(plant, ["p_a_1", "p_b_1", "p_b_2", "p_b_2_slow"])
    assert found == {
        "p_a_1": ("p_b_1", a),
        "p_a_2": ("p_b_2", b),
        "p_a_2_slow": ("p_b_2_slow", b),
    }


def test_steep_states_are_those_whose_rows_are_no_numbers():
    whole = SimpleNamespace(A=np.eye(2), states=("a", "b"))
    steep = SimpleNamespace(A=np.array([[1.0, 0.0], [0.0, np.nan]]), states=("a", "b"))
    worse = SimpleNamespace(A=np.full((2, 2), np.inf), states=("a", "b"))
    assert steep_states([whole, steep, worse]) == ["b"] and steep_states([whole]) == []


# ---- an example against a certificate ---------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Falls(Linear):
    """ẋ = A x without inputs."""

    @property
    def inputs(self):
        return ()

    def rhs(self, t, x, u):
        return [sum(a * b for a, b in zip(row, x)) for row in self.A]


def searched(A, V, limit=2.0, ball=0.1, budget=4000):
    plant = Falls(A=A, B=((),) * len(A), C=())
    motion = Motion(plant, V, [s.name for s in plant.states])
    n = len(A)
    one = np.ones(n)
    return Search(
        motion,
        [s.name for s in plant.states],
        [(-limit, limit)] * n,
        0.0 * one,
        ball * one,
        budget,
        None,
    )


def examples(search, points, top=np.inf):
    points = np.array(points, float)
    return search._example(points, points, top)


def test_an_example_is_outside_the_ball_under_the_level_and_no_fall():
    """ẋ_1 = x_1, ẋ_2 = −x_2, V = x_1² + 2 x_2²: V̇ = 2 x_1² − 4 x_2², a fall where x_1² < 2 x_2²."""
    own = searched(((1.0, 0.0), (0.0, -1.0)), lambda x: x[0] * x[0] + 2.0 * x[1] * x[1])
    assert examples(own, [[0.5, 1.0], [1.0, 1.0]]) is None
    (x, words) = examples(own, [[0.5, 1.0], [1.5, 1.0]])
    assert x.tolist() == [1.5, 1.0] and words == "V does not fall"
    (x, _) = examples(own, [[1.5, 1.0], [1.9, 0.3], [1.6, 0.2]])
    assert x.tolist() == [1.9, 0.3]  # where it rises most
    assert examples(own, [[0.05, 0.0]]) is None and examples(own, [[0.11, 0.0]]) is not None
    assert examples(own, [[1.5, 0.1]], top=2.0) is None
    assert examples(own, [[1.5, 0.1]], top=2.28) is not None
    assert examples(own, np.zeros((0, 2))) is None
    low, high = np.array([[0.4, 0.0]]), np.array([[1.4, 0.2]])
    assert own._example(low, high, np.inf)[0] == pytest.approx([0.9, 0.1])


def test_an_example_of_a_v_that_is_not_positive_comes_first():
    own = searched(((-1.0, 0.0), (0.0, -1.0)), lambda x: x[0] * x[0] - x[1] * x[1])
    x, words = examples(own, [[1.0, 0.5], [0.5, 1.0]])
    assert words == "V ≤ 0" and x.tolist() == [0.5, 1.0]
    x, words = examples(own, [[1.0, 0.5], [0.5, 1.0], [0.0, 1.5]])
    assert words == "V ≤ 0" and x.tolist() == [0.0, 1.5]


def test_a_search_tells_proved_false_and_left():
    """V = x² falls with ẋ = −x, not with ẋ = x; with too few boxes what is left is told."""
    falls = searched(((-1.0, 0.0), (0.0, -3.0)), lambda x: x[0] * x[0] + x[1] * x[1])
    state, used, found = falls._search(np.inf, 1.0)
    assert state == "proved" and used >= 1 and found is None
    rises = searched(((-1.0, 0.0), (0.0, 0.2)), lambda x: x[0] * x[0] + x[1] * x[1])
    state, _, (x, words) = rises._search(np.inf, 1.0)
    assert state == "false" and words == "V does not fall" and 0.2 * x[1] ** 2 >= x[0] ** 2
    assert rises._search(0.9 * 0.1**2, 1.0)[0] == "proved"  # boxes above the level are exempt
    bent = searched(((0.0, 1.0), (-1.0, -1.0)), lambda x: x[0] * x[0] + x[1] * x[1], budget=3)
    bent.core = None
    state, used, (low, high) = bent._search(np.inf, 1.0)
    assert state == "left" and used >= 3 and (low < high).all() and len(low) == len(high)


def test_points_tried_first_are_in_the_box_and_vary_everything():
    own = searched(((-1.0, 0.0), (0.0, -3.0)), lambda x: x[0] * x[0] + x[1] * x[1], limit=1.5)
    shots = own._shots()
    assert np.abs(shots).max() <= 1.5 and shots.shape[1] == 2
    size = np.abs(shots).max(axis=1)
    assert size.max() > 1.4 and size.min() < 1.5 / 32 and len(shots) >= 200 * 6


# ---- what the judge must know of a claim --------------------------------------------------------
LIMITS_OF_A_LOOP = {"SampleTimeLimit", "DelayLimit", "ParameterLimit"}
ALONE = {"Tracking", "Pressures", "Saturation", "Overshoot", "MachineLimits", "Requirement"}
ROWS_OF_A_LEDGER = {"Identity", "PowerFlows", "Hypotheses", "Inequality"}
STEADY = {
    "PracticalStability", "Linear", "LinearStability", "RobustStability", "MPCStability", "Sector",
    "RegionOfAttraction", "Supplied", "Tube",
}  # fmt: skip
BETWEEN = {
    "Tracking", "Pressures", "Overshoot", "EnergyBalance", "MachineLimits", "ValveLosses",
    "NoCavitation",
}  # fmt: skip
KNOWN = {
    "at_steps": BETWEEN,
    "needs_ledger": ROWS_OF_A_LEDGER,
    "needs_motion": {"Tracking", "EnergyBalance", "Settled"},
    "scans": LIMITS_OF_A_LOOP,
    "says_stable": STEADY,
    "searched": ALONE,
    "reads_sizes": {"Tube"},
}


@pytest.mark.parametrize("what, claims", KNOWN.items(), ids=KNOWN)
def test_what_the_judge_must_know_of_every_claim(what, claims):
    """Whether it answers "Is the loop stable?", looks between samples, tries runs of its own; nothing by accident."""
    assert {c.__name__ for c in get_args(Claim) if getattr(c, what)} == claims
    assert getattr(Checked, what) is False and Checked.work == 1


WORK = {
    "PracticalStability": 8, "SampleTimeLimit": 12, "DelayLimit": 12, "ParameterLimit": 12, "Linear": 2,
    "Settled": 2, "Tube": 10, "Probability": 20, "Falsify": 14, "Sensitivity": 14,
}  # fmt: skip


def test_shares_of_the_progress_bar():
    """A claim that runs the loop anew is more work than one that reads the run."""
    found = {c.__name__: c.work for c in get_args(Claim) if c.work != 1}
    assert found == WORK


# ---- usual numbers of claims --------------------------------------------------------------------
USUAL = {
    "Identity": {"tolerance": 1e-12},  # rounding
    "PowerFlows": {"tolerance": 1e-12},
    "Hypotheses": {"lever": 0.03},  # 3 cm
    "PracticalStability": {"runs": 6, "spread": 0.02, "settle": 3.0, "longest": 30.0},
    "Tracking": {"error": 5e-3, "settle": 3.0},  # 5 mm
    "Pressures": {"low": 1e5},  # 1 bar
    "Saturation": {"share": 0.01},
    "Overshoot": {"share": 0.1},
    "EnergyBalance": {"share": 1e-3},
    "MachineLimits": {"share": 0.01},
    "SampleTimeLimit": {"up_to": 40e-3, "error": 50e-3},
    "DelayLimit": {"up_to": 20e-3, "error": 50e-3},
    "ParameterLimit": {"to": 2.0, "error": 50e-3},
    "Linear": {"gain": 1.5, "phase": 0.5},  # 3.5 dB, 29°
    "Settled": {"floor": 0.1e-3, "chatter": 0.05, "longest": 30.0},
    "RobustStability": {"budget": 4000},
    "CostDecrease": {"floor": 1e-8},
    "Solves": {"share": 0.0},
    "Sector": {"low": 0.5, "high": 1.5},
    "Supplied": {"budget": 100_000},
    "Tube": {"substeps": 2, "after": 0.0},
    "IncrementalPassivity": {"samples": 300, "seed": 0},
    "UniqueVelocity": {"samples": 100, "seed": 0},
    "ValveLosses": {"share": 1e-6},
    "NoCavitation": {"drawn": 1e-5, "low": -0.3e5},  # 10 cm³, 0.7 bar absolute
    "Falsify": {"budget": 200, "seed": 1, "knots": 3},
    "Probability": {"at_most": 0.01, "confidence": 0.99, "seed": 0},
    "Sensitivity": {"runs": 1000, "seed": 0},
}
INFORMS = {"Hypotheses", "Inequality", "Linear", "Unasked", "Sensitivity"}


def test_usual_numbers_of_claims_and_which_only_inform():
    """What a file leaves out is what the documentation says; a claim counts unless it is there to inform."""
    found, informs = {}, set()
    for claim in get_args(Claim):
        usual = {f.name: f.default for f in fields(claim)}
        informs |= set() if usual["counted"] else {claim.__name__}
        own = {k: v for k, v in usual.items() if type(v) in (int, float)}
        found |= {claim.__name__: own} if own else {}
    assert found == USUAL and informs == INFORMS
