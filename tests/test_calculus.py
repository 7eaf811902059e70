"""Derivatives against closed forms, complex steps and high-order differences; what has no derivative is refused."""

from dataclasses import dataclass, replace
from typing import Annotated

import casadi as ca
import numpy as np
import pytest
from draws import plant_inputs, plant_state, varied_machine
from small import Curved, Feedback, Linear

from controllers.vdc import VDC
from workbench import (
    ClosedLoop,
    Filtered,
    InputError,
    Noisy,
    Quantised,
    Sampled,
    Saturated,
    Signal,
    System,
    equilibrium,
    linearize,
)
from workbench.contract.parameters import Unit
from workbench.contract.system import names
from workbench.numerics.calculus import directional, jacobian_columns, solve, trace
from workbench.numerics.switches import one_sided


def curve(s):
    return [
        np.sin(s[0]) * s[1] ** 2,
        np.exp(s[0] * s[2]) / s[1],
        np.arctan2(s[1], s[2]) + np.sqrt(s[0] ** 2 + s[2] ** 2),
    ]


def smooth(s):
    """As `curve`, analytic (complex arguments)."""
    return [
        np.sin(s[0]) * s[1] ** 2,
        np.exp(s[0] * s[2]) / s[1],
        np.tanh(s[1]) + np.sqrt(s[0] ** 2 + s[2] ** 2),
    ]


def evaluated(build, *numbers):
    """build(expressions) at numbers."""
    symbols = [ca.SX.sym("a") for _ in numbers]
    return np.array(ca.Function("f", symbols, [ca.vertcat(*build(*symbols))])(*numbers)).ravel()


def difference(f, h=1e-3):
    """Central difference of order 6 of a scalar-argument function at 0."""
    f = lambda s, f=f: np.array([float(v) for v in f(s)])
    return (45 * (f(h) - f(-h)) - 9 * (f(2 * h) - f(-2 * h)) + (f(3 * h) - f(-3 * h))) / (60 * h)


# ---- derivatives -----------------------------------------------------------------------------------------------------
def test_directional_and_columns_by_complex_step():
    rng = np.random.default_rng(1)
    for _ in range(5):
        x, d = rng.uniform(0.4, 1.9, 3), rng.normal(size=3)
        exact = np.array(smooth(x + 1e-30j * d)).imag / 1e-30
        assert directional(smooth, x.tolist(), d.tolist()) == pytest.approx(exact, rel=1e-13)
        columns = [np.array(smooth(x + 1e-30j * e)).imag / 1e-30 for e in np.eye(3)]
        assert np.array(jacobian_columns(smooth, x.tolist())) == pytest.approx(
            np.array(columns), rel=1e-13
        )


def test_directional_on_expressions_and_with_captured_expressions():
    x, d = [0.7, 1.3, 0.9], [0.2, -0.5, 1.1]
    plain = directional(curve, x, d)
    along = lambda a, b: directional(curve, [a, 1.3, 0.9], [0.2, b, 1.1])
    assert evaluated(along, 0.7, -0.5) == pytest.approx(plain, rel=1e-14)
    # A gain from outside stays in the graph and can itself be differentiated by.
    gained = lambda k: directional(lambda s: [k * v for v in curve(s)], x, d)
    assert evaluated(gained, 2.7) == pytest.approx([2.7 * v for v in plain], rel=1e-14)
    k = ca.SX.sym("k")
    assert float(ca.Function("d", [k], [ca.jacobian(gained(k)[1], k)])(2.7)) == pytest.approx(
        plain[1], rel=1e-14
    )


def test_derivatives_can_be_nested():
    """d²/ds² along a line: [s³, cos 2s] twice."""
    f = lambda s: [s[0] ** 3, np.cos(2 * s[0])]
    first = lambda s: directional(f, s, [1.0])
    assert directional(first, [0.8], [1.0]) == pytest.approx([6 * 0.8, -4 * np.cos(1.6)], rel=1e-13)


def test_derivative_of_what_does_not_depend():
    assert directional(lambda s: [3.0, s[1]], [1.0, 2.0], [5.0, 7.0]) == [0.0, 7.0]
    assert jacobian_columns(lambda s: [4.0], [1.0, 2.0]) == [[0.0], [0.0]]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_derivative_of_a_machine_by_differences(seed):
    """Along its own motion, where spools and speeds are off every switch."""
    plant, rng = varied_machine(seed, (False, True)), np.random.default_rng(seed)
    x, u = plant_state(rng, plant), plant_inputs(rng, plant)
    slow = np.array(plant.rhs(0.0, x, u)) * 1e-3
    exact = directional(lambda s: plant.rhs(0.0, s, u), x, slow.tolist())
    found = difference(lambda s: plant.rhs(0.0, (np.array(x) + s * slow).tolist(), u), 0.02)
    assert found == pytest.approx(exact, rel=1e-6, abs=1e-6 * np.abs(exact).max())
    assert np.abs(exact).max() > 0


def test_solve():
    rng = np.random.default_rng(4)
    for n in (1, 2, 3, 4):
        A, b = rng.normal(size=(n, n)), rng.normal(size=n)
        exact = np.linalg.solve(A, b)
        assert solve(A.T.tolist(), b.tolist()) == pytest.approx(exact, rel=1e-12)
        found = evaluated(
            lambda s, A=A, b=b: solve([[v * s for v in c] for c in A.T.tolist()], b.tolist()), 1.7
        )
        assert found == pytest.approx(exact / 1.7, rel=1e-11)


# ---- linearisation ---------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Switching(System):
    """One of several functions with an edge at x = 1 or u = 0.5."""

    kind: str
    k: Annotated[float, Unit("1/s")] = 1.7
    states = outputs = (Signal("x"), Signal("v"))
    inputs = (Signal("u"), Signal("w", kind="disturbance"))

    def initial(self):
        return [1.0, 0.0]

    def defaults(self):
        return {"w": 0.25}

    def out(self, t, x):
        return list(x)

    def rhs(self, t, x, u):
        e = x[0] - 1.0
        value = {
            "max": lambda: np.maximum(e, 0.0),
            "min": lambda: np.minimum(e, 0.2 * e),
            "abs": lambda: np.abs(e),
            "sign": lambda: np.sign(e),
            "where": lambda: np.where(e > 0, 2 * e, e),
            "clip": lambda: np.clip(u[0], -0.5, 0.5),
            "floor": lambda: np.floor(8 * u[0]),
            "square": lambda: np.abs(e) * e,
            "still": lambda: np.abs(e) * x[1] + 3 * e,
            "constant": lambda: np.maximum(0.0 * e, 0.0) + e,
            "smooth": lambda: np.sin(e) + u[0] * u[1],
        }[self.kind]()
        return [x[1] + 0.0 * u[0], -self.k * value]


POINT = [1.0, 0.0], [0.5, 0.3]


@pytest.mark.parametrize("kind", ["max", "min", "abs", "sign", "where", "clip", "floor"])
def test_switches_on_their_edge_are_refused(kind):
    with pytest.raises(InputError, match="exactly at its edge"):
        linearize(Switching(kind), *POINT)


@pytest.mark.parametrize("kind", ["max", "min", "abs", "sign", "where", "clip"])
def test_switches_off_their_edge_are_not(kind):
    for x, u in ((1.2, 0.4), (0.8, -0.45), (1 + 1e-9, 0.5 + 1e-9), (1 - 1e-9, 0.5 - 1e-9)):
        found = linearize(Switching(kind), [x, 0.0], [u, 0.3])
        slope = {
            "max": x > 1,
            "min": 0.2 if x > 1 else 1.0,
            "abs": np.sign(x - 1),
            "sign": 0.0,
            "where": 1.0 + (x > 1),
            "clip": 0.0,
        }[kind]
        assert found.A == pytest.approx(np.array([[0, 1], [-1.7 * slope, 0]]), abs=1e-15)
        assert found.B[1, 0] == (-1.7 * (abs(u) < 0.5) if kind == "clip" else 0.0)


@pytest.mark.parametrize("kind, slope", [("square", 0.0), ("still", 3.0), ("smooth", 1.0)])
def test_a_switch_that_does_not_matter_is_no_obstacle(kind, slope):
    assert linearize(Switching(kind), *POINT).A == pytest.approx(
        np.array([[0, 1], [-1.7 * slope, 0]])
    )


def test_one_sided_derivatives():
    s = ca.SX.sym("s", 2)
    kinks = ca.vertcat(ca.fmax(s[0], s[1]), ca.fabs(s[0] - s[1]), s[0] * s[1], ca.fmin(s[0], s[1]))
    f = ca.Function("f", [s], [kinks])
    d = np.array([[1.0, -1.0, 0.3], [0.0, 0.5, 0.3]])
    found = one_sided(f, [[2.0, 2.0]], d, [0])
    assert found == pytest.approx(
        np.array([[1, 0.5, 0.3], [1, 1.5, 0], [2, -1, 1.2], [0, -1, 0.3]])
    )


def test_linearise_a_pendulum():
    plant, x, t = Curved(), [0.4, -0.7, 1.3], 0.6
    found = linearize(plant, x, [2.1], t)
    A = [[0, 1, 0], [-4.1 * np.cos(0.4), -3 * 0.6 * 0.7**2, 0], [-0.7, 0.4, -2.6]]
    assert found.A == pytest.approx(np.array(A), rel=1e-14) and found.B[:, 0] == pytest.approx(
        [0, np.cos(1.8), 0]
    )
    assert found.residual == pytest.approx(max(map(abs, plant.rhs(t, x, [2.1]))))
    assert (found.states, found.inputs, found.outputs) == (("x0", "x1", "x2"), ("w",), ())


def test_inputs_not_asked_for_act_at_their_value():
    plant = Switching("smooth")
    for w in (0.3, 0.25):
        found = linearize(plant, [1.3, 0.2], [0.6, w], inputs=["u"])
        assert (
            found.B[:, 0] == pytest.approx([0, -1.7 * w])
            and found.B.shape == (2, 1)
            and found.u == [0.6]
        )
    assert linearize(plant, [1.3, 0.2], inputs=["u"]).B[1, 0] == pytest.approx(
        -1.7 * 0.25
    )  # its default
    both = linearize(plant, [1.3, 0.2], [0.6, 0.3], inputs=["w", "u"])
    assert both.B[1] == pytest.approx([-1.7 * 0.6, -1.7 * 0.3]) and both.D.shape == (2, 2)
    for wrong in ({"inputs": ["v"]}, {"u": [0.1]}):
        with pytest.raises(InputError):
            linearize(plant, **{"x": [1.0, 0.0], **wrong})


def opened(plant, volts):
    """State at rest with every spool at `volts`, and inputs that hold it there."""
    x = plant.initial()
    at = names(plant.states)
    for label, v in zip(plant.labels, volts):
        if f"u_s_{label}" in at:
            x[at.index(f"u_s_{label}")] = v
    return x, [*volts, *(plant.defaults().get(s.name, 0.0) for s in plant.inputs[plant.n :])]


def test_a_crane_is_linearised_off_its_switches_only(two_joint):
    x, u = opened(two_joint, (0.7, -0.4))
    found = linearize(two_joint, x, u, inputs=["u_1", "u_2"])
    rng = np.random.default_rng(6)
    scale = np.where(np.abs(x) > 1e3, 1e5, 1e-2)
    d = rng.normal(size=len(x)) * scale
    exact = difference(lambda s: two_joint.rhs(0.0, (np.array(x) + s * d).tolist(), u), 1e-3)
    assert found.A @ d == pytest.approx(exact, rel=1e-6, abs=1e-6 * np.abs(exact).max())
    for volts in ((0.0, -0.4), (0.7, 0.0), (10.0, -0.4)):
        with pytest.raises(InputError, match="valve side"):
            linearize(two_joint, *opened(two_joint, volts))


def test_what_has_no_derivative_is_refused(two_joint):
    law = VDC(two_joint)
    for wrapped, words in (
        (Quantised(law, 1e-5), "quantiser"),
        (Noisy(Saturated(law), 1e-5), "noise"),
        (Filtered(Quantised(law, 1e-5), 30.0), "quantiser"),
        (Sampled(law, 1e-3), "sampled"),
    ):
        with pytest.raises(InputError, match=words):
            linearize(ClosedLoop(two_joint, wrapped), ClosedLoop(two_joint, wrapped).initial())


def test_saturation_exactly_at_its_limit_is_refused():
    plant = Linear(((0.0, 1.0), (-2.0, -0.3)), ((0.0,), (1.0,)), ((1.0, 0.0),))
    loop = ClosedLoop(plant, Saturated(Feedback(plant, ((4.0,),)), -2.0, 2.0))
    assert linearize(loop, [0.49, 0.0]).A == pytest.approx(np.array([[0, 1], [-6, -0.3]]))
    assert linearize(loop, [0.51, 0.0]).A == pytest.approx(np.array([[0, 1], [-2, -0.3]]))
    with pytest.raises(InputError, match="saturation"):
        linearize(loop, [0.5, 0.0])


def test_traces_of_equal_graphs_are_one():
    assert trace(Curved(), ()) is trace(Curved(k=5.0), ()) is not trace(Curved(), ("w",))
    one = trace(Curved(), ())
    assert one.constants(Curved(k=5.0)).tolist() != one.constants(Curved()).tolist()


# ---- equilibrium -----------------------------------------------------------------------------------------------------
def test_equilibrium_of_a_linear_plant():
    plant = Linear(((-1.0, 2.0), (-3.0, -1.5)), ((0.4,), (1.1,)), ((1.0, 0.0),))
    x, u, residual = equilibrium(plant, [5.0, -3.0], [0.8], hold=("u0",))
    assert x == pytest.approx(
        np.linalg.solve(np.array(plant.A), -np.array(plant.B)[:, 0] * 0.8), rel=1e-12
    )
    assert u == [0.8] and residual < 1e-12
    x, u, residual = equilibrium(plant, [0.7, 0.0], hold=("x0",))
    assert x[0] == 0.7 and residual < 1e-12 and abs(u[0]) > 0.1


def test_equilibrium_that_does_not_exist_says_how_far_it_is():
    plant = Linear(((0.0, 1.0), (0.0, 0.0)), ((0.0,), (0.0,)), ((1.0, 0.0),), x0=(1.0, 1.0))
    _, _, residual = equilibrium(plant, [1.0, 2.0], hold=("x1",))
    assert residual == pytest.approx(2.0)


def test_equilibrium_of_the_crane_holds_against_its_leakage(two_joint):
    """Pressures and voltages that keep the crane where it is: spools slightly open, ẋ = 0 to rounding."""
    plant = replace(two_joint, p_s=180e5)
    x0, _ = opened(plant, (0.02, 0.02))
    x, u, residual = equilibrium(plant, x0, [0.02, 0.02], hold=("q_1", "q_2"))
    assert x[:2].tolist() == x0[:2] and residual < 1e-4  # pressures change by less than 1e-4 Pa/s
    assert (
        np.abs(
            plant.rhs(0.0, x0, [*u, *[plant.defaults().get(s.name, 0.0) for s in plant.inputs[2:]]])
        ).max()
        > 100
    )
    p = x[4:8]
    assert p.min() > plant.p_r and p.max() < plant.p_s and 0 < np.abs(u).max() < 0.5
