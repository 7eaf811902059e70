"""Adaptive integration: its linear solver, order, edges, samples, and the same numbers with and without a compiler."""

import importlib
from dataclasses import dataclass, replace
from typing import Annotated

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp
from scipy.linalg import expm
from small import Curved, Fast, Feedback, Linear, Push

from workbench import (
    ClosedLoop,
    Delayed,
    InputError,
    Sampled,
    Scenario,
    Signal,
    Sine,
    System,
    simulate,
)
from workbench.contract.parameters import Unit
from workbench.contract.system import names
from workbench.numerics import stiff_vm
from workbench.numerics.adaptive import Adaptive, adaptive
from workbench.numerics.calculus import trace
from workbench.numerics.stiff import StiffLoop, stiff_loop
from workbench.numerics.stiff_solver import elimination, solver

CHUNK = importlib.import_module("workbench.run.fused")


def asking(system, *given, **more):
    """The system, integrated adaptively."""
    kind = type(system)

    @dataclass(frozen=True)
    class Asking(kind):
        adaptive = Adaptive(*given, **more)

    Asking.__qualname__ = f"{kind.__qualname__}{hash((given, tuple(more.items())))}"
    return Asking(**{f: getattr(system, f) for f in kind.__dataclass_fields__})


def exact(system, T, w=lambda t: [0.0], tol=1e-11):
    """Last state by SciPy's Radau."""
    found = solve_ivp(
        lambda t, x: [float(v) for v in system.rhs(t, x, w(t))],
        (0, T),
        system.initial(),
        "Radau",
        rtol=tol,
        atol=tol,
    )
    return found.y[:, -1]


# ---- linear algebra ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(4))
def test_the_planned_elimination_solves(seed):
    rng = np.random.default_rng(seed)
    n = 12
    J = np.where(rng.random((n, n)) < 0.25, rng.normal(size=(n, n)), 0.0) - np.diag(
        rng.uniform(0, 4, n)
    )
    sparse, r, g = (
        ca.DM(J).sparsity() if seed else ca.Sparsity.dense(n, n),
        rng.normal(size=n),
        37.3,
    )
    given = ca.DM(J)[:] if not seed else ca.sparsify(ca.DM(J)).nonzeros()
    sparse = ca.sparsify(ca.DM(J)).sparsity() if seed else sparse
    lu, solve = solver(sparse)
    x = np.array(solve(lu(given, g), r)).ravel()
    assert np.abs((g * np.eye(n) - J) @ x - r).max() < 1e-12


def test_states_that_couple_through_a_few_are_eliminated_first():
    arrow = np.eye(20, dtype=bool)
    arrow[:2, :] = arrow[:, :2] = (
        True  # the border comes first in the matrix, and must come last in the elimination
    )
    assert set(elimination(arrow)[-3:]) >= {0, 1}
    lu, _ = solver(ca.DM(arrow.astype(float)).sparsity())
    assert lu.numel_out(0) == 400  # a dense pattern was handed over: all entries are kept
    lu, _ = solver(ca.sparsify(ca.DM(arrow.astype(float))).sparsity())
    assert lu.numel_out(0) == arrow.sum()  # no fill


# ---- the method -------------------------------------------------------------------------------------------------------
def fixed_steps(system, T, n, w):
    """RODAS with n equal steps of a system driven by w(t)."""
    machine, c = stiff_loop(system, trace(system, names(system.inputs)), compiled=False)
    z, h, nodes = np.array(system.initial(), float), T / n, np.array([0.0, 0.25, 0.5, 0.75, 1.0])
    for k in range(n):
        inputs = stiff_vm._Inputs(w(k * h + h * nodes)[:, None], k * h, h)
        J, rate = machine.slope(k * h, z, *inputs.at(k * h), c[: machine.n_c])
        z, _ = stiff_vm._rodas(machine, k * h, h, z, inputs, J, np.array(rate).ravel(), c)
    return z


def test_order_four_on_a_driven_nonlinear_flow():
    system = asking(Curved(), (1.0,) * 3)
    w = lambda t: np.sin(2.3 * t)
    truth = exact(system, 2.0, lambda t: [w(t)], 1e-12)
    errors = [np.abs(fixed_steps(system, 2.0, n, w) - truth).max() for n in (10, 20, 40)]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (orders > 3.7).all() and errors[-1] < 1e-5


def test_a_wrong_coefficient_costs_the_order(monkeypatch):
    monkeypatch.setattr("workbench.numerics.rodas.D", (0.25, -0.1043, 0.1035, +0.0362, 0.0, 0.0))
    system = asking(Curved(), (1.0,) * 3)
    w = lambda t: np.sin(2.3 * t)
    truth = exact(system, 2.0, lambda t: [w(t)], 1e-12)
    errors = [np.abs(fixed_steps(system, 2.0, n, w) - truth).max() for n in (20, 40)]
    assert np.log2(errors[0] / errors[1]) < 3.0


@pytest.mark.parametrize("rate", (1e3, 1e6, 1e9))
def test_fast_decay_costs_nothing(rate):
    """ẋ₀ = −λ (x₀ − cos t) for any λ: the error is what was asked for, with hundreds of steps."""
    system = asking(Fast(λ=rate), (1e-7, 1e-7))
    machine, _ = stiff_loop(system, trace(system, ()))
    before = machine.steps()[0]
    log = simulate(system, Scenario(3.0, max_step=0.5))
    late = log.time > 0.1
    follows = (np.cos(log.time) + np.sin(log.time) / rate) / (1 + rate**-2)
    assert np.abs(np.array(log["x0"]) - follows)[late].max() < 3e-7
    assert machine.steps()[0] - before < 1000  # an explicit method needs 3 λ


def test_error_follows_what_is_allowed():
    w = Push(lambda t: np.sin(2.3 * t))
    truth = exact(Curved(), 2.0, lambda t: [np.sin(2.3 * t)], 1e-12)
    errors = []
    for allowed in (1e-4, 1e-6, 1e-8):
        log = simulate(
            asking(Curved(), (allowed,) * 3), Scenario(2.0, disturbances={"w": w}, max_step=0.1)
        )
        errors.append(np.abs(log.values[-1, :3] - truth).max())
    assert errors[0] > 10 * errors[1] > 100 * errors[2] and errors[2] < 1e-6


# ---- edges ------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Bumps(System):
    """ṡ = 1; a collects narrow bumps at multiples of P in time, b a narrow bump around s = 0.31."""

    P: Annotated[float, Unit("s")] = 0.13
    ε: Annotated[float, Unit("1")] = 1e-3
    adaptive: Adaptive = Adaptive((1e-6,) * 3)
    states = (Signal("s"), Signal("a"), Signal("b"))
    inputs = ()

    def initial(self):
        return [0.0, 0.0, 0.0]

    def rhs(self, t, x, u):
        bump = lambda z: np.maximum(1.0 - (z / self.ε) ** 2, 0.0) ** 3
        return [
            1.0 + 0.0 * x[0],
            bump(np.sin(np.pi * t / self.P)) / self.ε,
            bump(x[0] - 0.31) / self.ε,
        ]


def test_edges_are_not_stepped_over():
    seen = replace(Bumps(), adaptive=Adaptive((1e-6,) * 3, 0.13, "s", (0.309, 0.311)))
    whole = quad(lambda z: (1 - z * z) ** 3, -1, 1)[0]
    width = (
        0.13
        / np.pi
        * quad(
            lambda p: max(1 - (np.sin(p) / 1e-3) ** 2, 0.0) ** 3 / 1e-3,
            -1.1e-3,
            1.1e-3,
            points=(-1e-3, 1e-3),
        )[0]
    )
    scenario = Scenario(0.6, max_step=0.6)
    for compiled in (None, False):
        end = simulate(seen, scenario, compiled=compiled).values[-1]
        assert abs(end[1] - 4.5 * width) < 1e-4 * width and abs(end[2] - whole) < 1e-4
    # The same flow without a word about its edges: bumps are missed.
    end = simulate(Bumps(), scenario).values[-1]
    assert end[1] < 4 * width and end[2] < 0.9 * whole


# ---- samples, loops ---------------------------------------------------------------------------------------------------
PLANT = Linear(
    ((0.0, 1.0), (-3.0, -0.4)), ((0.0,), (1.3,)), ((1.0, 0.0), (0.0, 1.0)), ((0.2,), (0.7,))
)
STIFF = asking(PLANT, (1e-9, 1e-9))
LAW = Feedback(PLANT, ((5.0, 1.1),), ((5.0, 0.3),))


class Hosted:
    """The law as a user's own."""

    T_s = 0.02

    def __init__(self):
        self.references = ("y0_d", "y1_d")

    def command(self, t, z, y, r):
        return LAW.command(t, (), y, r)


def test_held_commands_are_integrated_exactly_from_sample_to_sample():
    T, held = 0.02, ClosedLoop(STIFF, Sampled(Feedback(PLANT, ((5.0, 1.1),)), 0.02))
    log = simulate(held, Scenario(1.0))
    AB = expm(T * np.block([[np.array(PLANT.A), np.array(PLANT.B)], [np.zeros((1, 3))]]))
    step = AB[:2, :2] - AB[:2, 2:] @ np.array([[5.0, 1.1]])
    x = np.array(PLANT.initial())
    for k in range(len(log)):
        assert np.abs(log.values[k, :2] - x).max() < 1e-7
        x = step @ x


@pytest.mark.parametrize(
    "wrap",
    (lambda law: Sampled(law, 0.02), lambda law: Delayed(Sampled(law, 0.02), 0.033)),
    ids=("sampled", "delayed by a fraction"),
)
def test_compiled_virtual_machine_and_fixed_steps_agree(wrap):
    push = Push(lambda t: np.sin(9 * t))
    scenario = Scenario(
        0.5,
        Sine("output", (0.1, 0.2), (0.3, 0.1), 1.7, ramp=0.1),
        {"w0": push},
        log_period=0.1,
        max_step=4e-3,
    )
    logs = [
        simulate(ClosedLoop(plant, wrap(LAW)), scenario, compiled=c)
        for plant, c in ((STIFF, None), (STIFF, False), (PLANT, None))
    ]
    assert all(log.names == logs[0].names and len(log) == 6 for log in logs)
    assert np.abs(logs[0].values - logs[1].values).max() < 1e-11
    assert np.abs(logs[0].values - logs[2].values).max() < 1e-6


@pytest.mark.parametrize("compiled", (None, False))
def test_a_law_called_from_python_gives_the_fused_numbers(compiled):
    scenario = Scenario(
        0.4, Sine("output", (0.1, 0.2), (0.3, 0.1), 1.7), {"w0": Push(lambda t: np.sin(9 * t))}
    )
    fused = simulate(ClosedLoop(STIFF, Sampled(LAW, 0.02)), scenario, compiled=compiled)
    hosted = simulate(ClosedLoop(STIFF, Hosted()), scenario, compiled=compiled)
    for name in ("x0", "x1", "u0"):
        assert np.abs(np.array(fused[name]) - np.array(hosted[name])).max() < 1e-12


def test_a_jump_of_an_input_on_a_sample_does_not_blur():
    step = Push(lambda t: np.where(t >= 0.1, 1.0, 0.0))
    clock = asking(Linear(((0.0,),), ((0.0,),), ((1.0,),), ((1.0,),), (0.0,)), (1e-9,))
    log = simulate(clock, Scenario(0.2, disturbances={"w0": step}, max_step=0.05))
    assert np.abs(np.array(log["x0"]) - np.maximum(log.time - 0.1, 0.0)).max() < 1e-8


def test_powers_are_integrated_with_the_flow():
    @dataclass(frozen=True)
    class Drained(System):
        k: Annotated[float, Unit("1/s")] = 3.7
        states = (Signal("x"),)
        inputs = ()
        power_names = ("loss",)
        adaptive = Adaptive((1e-9,))

        def initial(self):
            return [1.2]

        def rhs(self, t, x, u):
            return [-self.k * x[0]]

        def powers(self, t, x, u):
            return [-self.k * x[0] * x[0]]

        def stored(self, t, x, u):
            return 0.5 * x[0] * x[0]

    for compiled in (None, False):
        log = simulate(Drained(), Scenario(0.5, max_step=0.1), compiled=compiled)
        change = np.array(log["E_stored"]) - float(log["E_stored"][0])
        assert np.abs(np.array(log["E_loss"]) - change).max() < 1e-7 and change[-1] < -0.5


@dataclass(frozen=True)
class Explodes(System):
    """ẋ = x²: infinite at t = 1."""

    k: Annotated[float, Unit("1")] = 1.0
    states = (Signal("x"),)
    inputs = ()
    adaptive = Adaptive((1e-6,))

    def initial(self):
        return [1.0]

    def rhs(self, t, x, u):
        return [self.k * x[0] * x[0]]


@pytest.mark.parametrize("compiled", (None, False))
def test_a_run_that_explodes_ends_and_says_so(compiled):
    log = simulate(Explodes(), Scenario(2.0, max_step=0.1), compiled=compiled)
    assert not log.status.completed and log.status.state == "x" and 0.9 <= log.time[-1] <= 1.1
    assert abs(log["x"][5] - 2.0) < 1e-5


def test_what_is_asked_for_is_checked_and_found_in_loops():
    with pytest.raises(InputError, match="no error"):
        Adaptive((1e-3, 0.0))
    with pytest.raises(InputError, match="which state"):
        Adaptive((1e-3,), edges=(0.1,))
    assert (
        adaptive(ClosedLoop(STIFF, Sampled(LAW, 0.02))) is STIFF.adaptive
        and adaptive(PLANT) is None
    )
    machine, c = stiff_loop(STIFF, trace(STIFF, ()))
    assert isinstance(machine, StiffLoop) and list(c[machine.n_c :]) == [1e-9, 1e-9, 0.0, 1e-9]
    _, tight = stiff_loop(STIFF, trace(STIFF, ()), tolerance=0.01)
    assert list(tight[machine.n_c :]) == pytest.approx([1e-11, 1e-11, 0.0, 1e-11], rel=1e-12)
