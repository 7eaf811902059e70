"""Equal steps of the L-stable method and projection onto constraints, in every integrator, compiled or not."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from small import Curved, Fast, Feedback, Linear, Push

from workbench import (
    ClosedLoop,
    Controller,
    Delayed,
    InputError,
    Sampled,
    Scenario,
    Signal,
    Sine,
    Steps,
    System,
    simulate,
)
from workbench.contract.parameters import Unit
from workbench.numerics.adaptive import Adaptive, Fixed, fixed
from workbench.numerics.calculus import trace
from workbench.numerics.stiff import stiff_loop
from workbench.run.grid import grid, steps

MACHINES = (None, False)  # compiled, virtual machine


def stepping(system, step=1.0):
    """The system, integrated by equal steps."""
    kind = type(system)

    @dataclass(frozen=True)
    class Stepping(kind):
        fixed = Fixed(step)

    Stepping.__qualname__ = f"{kind.__qualname__} by {step}"
    return Stepping(**{f: getattr(system, f) for f in kind.__dataclass_fields__})


# ---- the method -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("compiled", MACHINES)
def test_order_four_on_a_driven_nonlinear_flow(compiled):
    w = lambda t: np.sin(2.3 * t)
    truth = solve_ivp(
        lambda t, x: [float(v) for v in Curved().rhs(t, x, [w(t)])],
        (0, 2),
        Curved().initial(),
        "DOP853",
        rtol=1e-13,
        atol=1e-13,
    ).y[:, -1]
    run = lambda n: simulate(
        stepping(Curved()),
        Scenario(2.0, disturbances={"w": Push(w)}, max_step=2.0 / n),
        compiled=compiled,
    )
    errors = np.array([np.abs(run(n).values[-1, :3] - truth).max() for n in (80, 160, 320)])
    assert (
        np.log2(errors[:-1] / errors[1:]) == pytest.approx([4.3, 4.3], abs=0.3)
        and errors[-1] < 1e-10
    )


@pytest.mark.parametrize("compiled", MACHINES)
@pytest.mark.parametrize("rate", (1e4, 1e9))
def test_a_fast_state_has_settled_after_one_step(compiled, rate):
    """ẋ₀ = −λ (x₀ − cos t) from 3: the start is forgotten by |R(−λh)| < 10/(λh) a step (the trapezoidal rule keeps it)."""
    log = simulate(stepping(Fast(λ=rate)), Scenario(1.0, max_step=0.05), compiled=compiled)
    follows = (np.cos(log.time) + np.sin(log.time) / rate) / (1 + rate**-2)
    gap, left = np.abs(np.array(log["x0"]) - follows), 10 / (rate * 0.05)
    assert gap[1] < 2 * left and gap[2] < 2 * left**2 + 1e-3 / rate and gap[6:].max() < 1e-3 / rate


def test_one_jacobian_and_one_factorisation_a_step():
    machine, _ = stiff_loop(stepping(Fast()), trace(stepping(Fast()), ()))
    before = machine.steps()
    simulate(stepping(Fast()), Scenario(1.0, max_step=0.01))
    assert np.array(machine.steps()) - before == pytest.approx(
        [101, 101]
    )  # the last one leads past the end, as in every run


@pytest.mark.parametrize(
    "wrap",
    (lambda law: Sampled(law, 0.02), lambda law: Delayed(Sampled(law, 0.02), 0.033)),
    ids=("sampled", "delayed by a fraction"),
)
def test_compiled_virtual_machine_python_and_adaptive_steps_agree(wrap):
    plant = Linear(
        ((0.0, 1.0), (-3.0, -0.4)), ((0.0,), (1.3,)), ((1.0, 0.0), (0.0, 1.0)), ((0.2,), (0.7,))
    )
    law, push = Feedback(plant, ((5.0, 1.1),), ((5.0, 0.3),)), Push(lambda t: np.sin(9 * t))
    scenario = Scenario(
        0.5,
        Sine("output", (0.1, 0.2), (0.3, 0.1), 1.7, ramp=0.1),
        {"w0": push},
        log_period=0.1,
        max_step=2e-3,
    )
    loop = ClosedLoop(stepping(plant), wrap(law))
    assert fixed(loop) and not fixed(ClosedLoop(plant, wrap(law)))
    logs = [
        simulate(loop, scenario),
        simulate(loop, scenario, compiled=False),
        simulate(ClosedLoop(plant, wrap(law)), scenario),
    ]
    assert all(log.names == logs[0].names and len(log) == 6 for log in logs)
    assert np.abs(logs[0].values - logs[1].values).max() < 1e-12
    assert np.abs(logs[0].values - logs[2].values).max() < 1e-7

    class Hosted:
        references = ("y0_d", "y1_d")

        def command(self, t, z, y, r):
            return law.command(t, (), y, r)

    hosted = simulate(ClosedLoop(stepping(plant), wrap(Hosted())), scenario)
    for name in ("x0", "x1", "u0"):
        assert np.abs(np.array(logs[0][name]) - np.array(hosted[name])).max() < 1e-12


@pytest.mark.parametrize("compiled", MACHINES)
def test_a_run_that_explodes_ends_and_says_so(compiled):
    @dataclass(frozen=True)
    class Explodes(System):
        states, inputs, fixed = (Signal("x"),), (), Fixed(0.01)

        def initial(self):
            return [1.0]

        def rhs(self, t, x, u):
            return [np.exp(x[0] * x[0] * x[0])]

    log = simulate(Explodes(), Scenario(2.0, max_step=0.1), compiled=compiled)
    assert not log.status.completed and log.status.state == "x" and log.time[-1] < 1.0


# ---- steps, samples, jumps --------------------------------------------------------------------------------------------
CLOCK = Linear(((0.0,),), ((0.0,),), ((1.0,),), ((1.0,),), (0.0,))  # ẋ = w


@pytest.mark.parametrize("compiled", MACHINES)
@pytest.mark.parametrize("at", (0.1, 0.1025, 0.11, 0.0333))
@pytest.mark.parametrize("system", (CLOCK, stepping(CLOCK)), ids=("RK4", "RODAS"))
def test_steps_end_on_jumps(system, at, compiled):
    jump = Steps("output", (0.0, at, 0.15), (0.3, 1.7, -0.4))
    log = simulate(
        system,
        Scenario(0.2, disturbances={"w0": jump}, max_step=0.01, log_period=0.05),
        compiled=compiled,
    )
    t = log.time
    exact = (
        0.3 * np.minimum(t, at)
        + 1.7 * np.clip(t - at, 0, 0.15 - at)
        - 0.4 * np.maximum(t - 0.15, 0)
    )
    assert np.abs(np.array(log["x0"]) - exact).max() < 1e-13  # roundings of 2,000 steps


def test_a_jump_inside_a_step_would_cost_the_order():
    """What the grid prevents: the same jump, not told."""
    told = Steps("output", (0.0, 0.1025), (0.3, 1.7))
    run = lambda w: simulate(
        stepping(CLOCK), Scenario(0.2, disturbances={"w0": w}, max_step=0.01)
    ).values[-1, 0]
    assert abs(run(Push(lambda t: told.sample(t, 0)[0, :, 0])) - run(told)) > 1e-4


def test_grids():
    system = stepping(CLOCK, 2e-3)
    assert grid(system, Scenario(1.0, max_step=0.1)).T == 2e-3  # the plant's step is the longest
    assert grid(system, Scenario(1.0, max_step=5e-4)).T == 5e-4  # a scenario may shorten it
    thin = grid(system, Scenario(1.0, max_step=0.1, log_period=0.01))
    assert (thin.T, thin.n2, thin.every) == (2e-3, 1, 5)
    assert (
        grid(system, Scenario(1.0, disturbances={"w0": Steps("output", (0.0, 0.7005), (0, 1))})).n2
        == 2
    )
    assert (
        steps(1.0, 0.25, []) == 4
        and steps(1.0, 0.3, [0.5]) == 4
        and steps(1.0, 0.3, [0.2, 0.4]) == 5
    )
    with pytest.raises(InputError, match="jumps 0.000141421 s after a sample"):
        grid(
            system,
            Scenario(
                1.0, disturbances={"w0": Steps("output", (0.0, 0.5 + 2e-4 / np.sqrt(2)), (0, 1))}
            ),
        )
    # A sampled law reads its reference at samples: a jump between them needs no step.
    loop = ClosedLoop(system, Sampled(Feedback(system, ((1.0,),), ((1.0,),)), 2e-3))
    assert (
        grid(loop, Scenario(1.0, Steps("output", (0.0, 0.5 + 1e-5 * np.sqrt(2)), (0, 1)))).n2 == 2
    )


def test_fixed_and_steps_refuse():
    for wrong, words in (
        (lambda: Fixed(0.0), "no step"),
        (lambda: Steps("output", (0.0, 1.0), (1.0,)), "1 for 2 times"),
        (lambda: Steps("output", (0.0, 0.0), (1.0, 2.0)), "comes after"),
        (lambda: Steps("output", (0.0, 1.0), (1.0, (2.0, 3.0))), "as many in each"),
        (lambda: Steps("output", (0.0, 1.0), (1.0, np.nan)), "finite"),
    ):
        with pytest.raises(InputError, match=words):
            wrong()


# ---- projection -------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Pendulum(System):
    """A mass on a rod in Cartesian coordinates, r̈ = −g e_y − λ r + u e_x, with λ from the second derivative of |r| = L."""

    L: Annotated[float, Unit("m")] = 0.7
    g: Annotated[float, Unit("m/s^2")] = 9.3
    k: Annotated[float, Unit("1/s")] = 0.2
    stiff: tuple = ()
    kept: bool = True
    states = tuple(Signal(n) for n in ("x", "y", "vx", "vy"))
    inputs = (Signal("u"),)
    outputs = (Signal("x"), Signal("vx"))

    def initial(self):
        return [self.L * np.sin(1.1), -self.L * np.cos(1.1), 0.0, 0.0]

    def rhs(self, t, x, u):
        x, y, vx, vy = x
        λ = (vx * vx + vy * vy - self.g * y + u[0] * x) / (x * x + y * y)
        return [vx, vy, u[0] - λ * x, -self.g - λ * y]

    def out(self, t, x):
        return [x[0], x[2]]

    def project(self, t, x):
        if not self.kept:
            return list(x)
        x, y, vx, vy = x
        r = np.sqrt(x * x + y * y)
        x, y = self.L * x / r, self.L * y / r
        along = (x * vx + y * vy) / self.L**2
        return [x, y, vx - along * x, vy - along * y]


@dataclass(frozen=True)
class Integrating(Controller):
    """u = −k x − z, ż = x − 0.1: a law with memory."""

    k: Annotated[float, Unit("1")] = 1.3
    measured, commands, states = (Signal("x"),), (Signal("u"),), (Signal("z"),)

    def command(self, t, z, y, r):
        return [-self.k * y[0] - z[0]]

    def rhs(self, t, z, y, r):
        return [y[0] - 0.1]


def by_angle(T):
    """φ, φ̇ and the law's memory at T, by an independent solver in the minimal coordinate."""
    p, law = Pendulum(), Integrating()

    def rhs(t, s):
        x = p.L * np.sin(s[0])
        u = -law.k * x - s[2]
        return [s[1], (-p.g * np.sin(s[0]) + u * np.cos(s[0])) / p.L, x - 0.1]

    return solve_ivp(rhs, (0, T), [1.1, 0.0, 0.0], "DOP853", rtol=1e-12, atol=1e-13).y[:, -1]


def with_adaptive(system):
    @dataclass(frozen=True)
    class Asking(Pendulum):
        adaptive = Adaptive((1e-7,) * 4)

    return Asking(system.L, system.g, system.k, system.stiff, system.kept)


DRIVERS = {
    "RK4": lambda p: p,
    "exponential": lambda p: type(p)(stiff=("vx", "vy"), kept=p.kept),
    "adaptive": with_adaptive,
    "equal": stepping,
}


@pytest.mark.parametrize("compiled", MACHINES)
@pytest.mark.parametrize("driver", DRIVERS)
def test_every_integrator_projects(driver, compiled):
    end = by_angle(2.0)
    gap = {}
    for kept in (True, False):
        loop = ClosedLoop(DRIVERS[driver](Pendulum(kept=kept)), Integrating())
        log = simulate(loop, Scenario(2.0, max_step=0.02), compiled=compiled)
        x, y, vx, vy, z = log.values[:, :5].T
        gap[kept] = max(np.abs(np.hypot(x, y) - 0.7).max(), np.abs(x * vx + y * vy).max())
        assert log.values[-1, :5] == pytest.approx(
            [
                0.7 * np.sin(end[0]),
                -0.7 * np.cos(end[0]),
                0.7 * np.cos(end[0]) * end[1],
                0.7 * np.sin(end[0]) * end[1],
                end[2],
            ],
            abs=3e-5,
        )
    assert gap[True] < 1e-14 and gap[False] > 1e-10  # without, it drifts


def test_projection_costs_nothing_where_there_is_none():
    for system in (Pendulum(kept=False), CLOCK, ClosedLoop(Pendulum(kept=False), Integrating())):
        assert trace(system, ()).project is None
    assert trace(Pendulum(), ()).project is not None


def test_a_loop_projects_its_plant_alone():
    loop = ClosedLoop(Pendulum(), Integrating())
    assert loop.project(0.0, [0.5, -0.5, 0.2, -0.1, 7.3]) == [
        *Pendulum().project(0.0, [0.5, -0.5, 0.2, -0.1]),
        7.3,
    ]
