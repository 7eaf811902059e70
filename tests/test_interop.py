"""python-control both ways: names, round trips, the same simulations."""

from dataclasses import dataclass

import control
import numpy as np
import pytest
from pendulum import Pendulum
from rig import HIAB

from controllers import PID
from plants import machine
from plants.crane.manipulator import Manipulator
from workbench import (
    ClosedLoop,
    Controller,
    Delayed,
    Hold,
    InputError,
    Plain,
    Sampled,
    Scenario,
    Signal,
    from_control,
    linearize,
    simulate,
    to_control,
)
from workbench.cases.build import build
from workbench.cases.yaml_input import read
from workbench.interop.linear_plant import LinearPlant
from workbench.interop.python_plant import FromControl
from workbench.numerics.calculus import trace
from workbench.verification.linear.modes_of_run import slowest_and_unstable
from workbench.verification.run import run as simulated


def labels(sys):
    return sys.state_labels, sys.input_labels, sys.output_labels


def test_nonlinear_out_simulates_the_same():
    plant = Pendulum()
    sys = to_control(plant)
    assert labels(sys) == (["θ", "ω"], ["u"], ["θ"]) and sys.isctime() and sys.name == "pendulum"
    u = 2.1
    mine = simulate(ClosedLoop(plant, lambda t, y, r: [u]), Scenario(3.0, max_step=1e-3))
    theirs = control.input_output_response(
        sys,
        mine.time,
        np.full((1, len(mine)), u),
        plant.initial(),
        solve_ivp_kwargs={"rtol": 1e-10, "atol": 1e-12},
    )
    np.testing.assert_allclose(mine.array("θ"), theirs.outputs, atol=1e-8)
    np.testing.assert_allclose(mine.array("ω"), theirs.states[1], atol=1e-8)
    assert np.ptp(mine.array("θ")) > 0.3


def test_disturbances_are_inputs_when_named():
    plant = Pendulum()
    sys = to_control(plant, inputs=("w", "u"))
    assert sys.input_labels == ["w", "u"]
    x, J = [0.3, 0.8], 2.3 * 0.7**2
    np.testing.assert_allclose(
        sys.dynamics(0.0, x, [0.6, 0.5]), plant.rhs(0.0, x, [0.5, 0.6]), rtol=1e-14
    )
    assert to_control(plant).dynamics(0.0, [0.0, 0.0], [0.0])[1] == pytest.approx(1.3 / J)
    with pytest.raises(InputError, match="'v'"):
        to_control(plant, inputs=("v",))


def test_linear_out():
    plant = Pendulum()
    x, u = [0.35, -0.2], [0.7]
    sys = to_control(plant, x, u, linear=True)
    assert isinstance(sys, control.StateSpace) and labels(sys) == (["θ", "ω"], ["u"], ["θ"])
    by_differences = control.linearize(to_control(plant), x, u)
    for entry in "ABCD":
        np.testing.assert_allclose(getattr(sys, entry), getattr(by_differences, entry), atol=1e-4)
    J = 2.3 * 0.7**2
    np.testing.assert_allclose(sys.A, [[0, 1], [-9.81 / 0.7 * np.cos(0.35), -0.9 / J]], rtol=1e-13)
    with pytest.raises(InputError, match="2 inputs u"):
        to_control(plant, x, [0.7, 0.1], linear=True)


def test_the_crane_out():
    crane = build(Manipulator, read(HIAB).value["plant"], "plant").locked(extension=0.5)
    sys = to_control(crane)
    assert sys.input_labels == ["u_1", "u_2"] and sys.nstates == len(crane.states)
    x, u = np.array(crane.initial()), [0.4, -0.3]
    full = [*u, *(crane.defaults().get(s.name, 0.0) for s in crane.inputs[2:])]
    np.testing.assert_allclose(
        sys.dynamics(0.0, x, u), crane.rhs(0.0, list(x), full), rtol=1e-9, atol=1e-9
    )
    np.testing.assert_allclose(sys.output(0.0, x, u), crane.out(0.0, list(x)), rtol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_linear_there_and_back(seed):
    rng = np.random.default_rng(seed)
    n, m, p = rng.integers(1, 6, 3)
    sys = control.ss(
        rng.normal(size=(n, n)),
        rng.normal(size=(n, m)),
        rng.normal(size=(p, n)),
        0,
        name="random",
        inputs=[f"in{i}" for i in range(m)],
        outputs=[f"out{i}" for i in range(p)],
        states=[f"state{i}" for i in range(n)],
    )
    plant = from_control(sys)
    assert isinstance(plant, LinearPlant) and plant.name == "random"
    back = to_control(plant, linear=True)
    assert labels(back) == labels(sys) and back.name == "random"
    for entry in "ABCD":
        np.testing.assert_allclose(getattr(back, entry), getattr(sys, entry), atol=1e-15)
    x, u = rng.normal(size=n), rng.normal(size=m)
    np.testing.assert_allclose(
        to_control(plant).dynamics(0.0, x, u), sys.A @ x + sys.B @ u, atol=1e-13
    )


def test_transfer_function_in_runs_in_a_loop():
    s = control.tf("s")
    G = 3.1 / ((0.2 * s + 1) * (0.7 * s + 1))
    plant = from_control(G)
    K, to = 1.9, 0.8
    name = plant.outputs[0].name

    def proportional(t, y, r):
        return [K * (r[0] - y[0])]

    proportional.references = (f"{name}_d",)
    log = simulate(
        ClosedLoop(plant, Sampled(proportional, 2e-4)), Scenario(2.0, Hold("output", (to,)))
    )
    _, y = control.step_response(
        control.feedback(control.sample_system(control.ss(K * G), 2e-4, "zoh")), log.time
    )
    np.testing.assert_allclose(log.array(name), to * y.ravel(), atol=1e-9)


def test_nonlinear_there_and_back():
    plant = Pendulum()
    theirs = to_control(plant)
    mine = from_control(theirs)
    assert isinstance(mine, FromControl)
    x, u = [0.2, 0.5], [1.1]
    np.testing.assert_allclose(mine.rhs(0.0, x, u), plant.rhs(0.0, x, [1.1, 1.3]), rtol=1e-13)
    assert mine.out(0.0, x) == [0.2] and [q.name for q in mine.states] == ["θ", "ω"]
    t = np.linspace(0, 2, 41)
    again, first = (
        control.input_output_response(sys, t, np.sin(t)[None], x)
        for sys in (to_control(mine), theirs)
    )
    np.testing.assert_array_equal(again.outputs, first.outputs)
    exact, found = linearize(plant, x, [1.1, 1.3], inputs=["u"]), linearize(mine, x, u)
    for name in ("A", "B", "C", "D"):
        np.testing.assert_allclose(getattr(found, name), getattr(exact, name), atol=1e-7)
    with pytest.raises(InputError, match="floats only.*\n.*control.linearize"):
        trace(mine, ())


def written(flow):
    """A plant of one state whose flow is Python."""
    return from_control(
        control.NonlinearIOSystem(flow, inputs=["u"], outputs=["y"], states=["y"], name="theirs")
    )


@pytest.mark.parametrize(
    "flow, words",
    [
        (lambda t, x, u, p: [u[0] - x[0] * (1 + t)], "changes with time itself"),
        (lambda t, x, u, p: [u[0] - (3 * x[0] if x[0] > 0.02 + 4e-5 else x[0])], "do not agree"),
        (
            lambda t, x, u, p: [u[0] - (x[0] if x[0] <= 0.02 else float("nan"))],
            "no derivative there",
        ),
    ],
)
def test_a_flow_in_python_without_a_slope_says_so(flow, words):
    with pytest.raises(InputError, match=words):
        linearize(written(flow), [0.02])


@pytest.mark.parametrize("K, grows", [(-0.1, True), (0.1, False)])
def test_memory_that_grows_around_a_flow_in_python_is_found(K, grows):
    """u = 3 e + Σ T K e around ẏ = 2 (u − y − y³/9): by e in 40 s, of which a run of 0.2 s shows nothing."""

    class PI:
        sum = 0.0

        def step(self, t, z, y, r):
            self.sum += 0.02 * K * (r[0] - y[0])
            return z, [3.0 * (r[0] - y[0]) + self.sum]

    plant = written(lambda t, x, u, p: [2 * (u[0] - x[0] - x[0] ** 3 / 9)])
    loop = ClosedLoop(plant, Sampled(Plain(PI(), references=("y_d",)), 0.02))
    found = slowest_and_unstable(simulated(loop, Scenario(0.2, Hold("output", (0.0,)))))
    assert bool(found.unstable) is grows, found.words
    assert found.places and (not grows or "grows by e in 40" in found.words)


@pytest.mark.parametrize(
    "sys, words",
    [
        (control.ss([[-1.0]], [[1.0]], [[1.0]], [[0.5]]), "directly on inputs"),
        (control.ss([[0.5]], [[1.0]], [[1.0]], [[0.0]], 0.1), "is sampled"),
        (
            control.NonlinearIOSystem(
                lambda t, x, u, p: -x, lambda t, x, u, p: x + u, inputs=1, outputs=1, states=1
            ),
            "directly on inputs",
        ),
        (control.frd([1.0, 2.0], [0.1, 1.0]), "no python-control system with a state"),
    ],
)
def test_refused_in(sys, words):
    with pytest.raises(InputError, match=words):
        from_control(sys)


def sampled_loop(delay):
    """A two-state plant under a PI law whose command is late by part of a sample."""
    plant = from_control(control.ss([[0, 1], [-3.0, -0.4]], [[0], [1.3]], [[1, 0]], 0, name="mass"))
    law = PID(plant, (4.0,), (2.5,), (0.6,), feed="none", damping="none", u_max=100.0)
    inner = Delayed(Sampled(law, 0.02), delay) if delay else Sampled(law, 0.02)
    return ClosedLoop(plant, inner)


@pytest.mark.parametrize("delay", [0.0, 0.013, 0.02, 0.047])
def test_a_sampled_loop_out_steps_as_it_runs(delay):
    """The discrete StateSpace under a step of the reference, beside the run of the loop itself."""
    loop = sampled_loop(delay)
    with pytest.raises(InputError, match="sampled every 0.02 s.*\n.*linear=True"):
        to_control(loop)
    sys = to_control(loop, linear=True)
    name = loop.plant.outputs[0].name
    assert sys.dt == 0.02 and sys.input_labels == [f"{name}_d", f"d{name}_d"]
    run = simulate(loop, Scenario(2.0, Hold("output", (0.3,)), max_step=1e-3))
    given = np.array([np.full(len(run), 0.3), np.zeros(len(run))])
    begin = [run.array(s.name)[0] * (s.name == f"e_{name}_slow") for s in loop.states]
    theirs = control.forced_response(sys, run.time, given, np.zeros(len(begin)) + begin)
    np.testing.assert_allclose(run.array(name), theirs.outputs.ravel(), atol=2e-7)
    assert np.ptp(run.array(name)) > 0.3


def test_a_curved_sampled_loop_comes_back_as_its_poles_say():
    """About a pose, with a law that is not linear: small deviations of the run die as the discrete poles say."""
    plant = Pendulum()

    @dataclass(frozen=True)
    class Curved(Controller):
        measured = (Signal("θ", "rad"),)
        commands = (Signal("u", "N m"),)

        def command(self, t, z, y, r):
            return [-6.0 * np.sin(y[0])]

    loop = ClosedLoop(plant, Sampled(Curved(), 0.05))
    J = plant.m * plant.l**2
    # At rest where 1.3 = (m g l + 6) sin θ.
    x = [float(np.arcsin(1.3 / (plant.m * 9.81 * plant.l + 6.0))), 0.0]
    x = [*x, -6.0 * float(np.sin(x[0]))]
    with pytest.raises(InputError, match="no inputs.*\n.*disturbance, w"):
        to_control(loop, x, linear=True)
    sys = to_control(loop, x, [plant.defaults()["w"]], linear=True, inputs=("w",))
    c = np.cos(x[0])
    own = control.sample_system(
        control.ss([[0, 1], [-9.81 / plant.l * c, -plant.d / J]], [[0], [1 / J]], [[1, 0]], 0), 0.05
    )
    closed = own.A - own.B @ (6.0 * c * own.C)
    np.testing.assert_allclose(sys.A[:2, :2], closed, rtol=1e-10, atol=1e-13)
    δ = 1e-5
    run = simulate(loop, Scenario(1.0, start=(x[0] + δ, 0.0), max_step=1e-3))
    moved = np.linalg.matrix_power(sys.A, len(run) - 1) @ [δ, 0, 0]
    assert (run.array("θ")[-1] - x[0]) / δ == pytest.approx(moved[0] / δ, abs=1e-4)


def test_a_sampled_loop_without_a_derivative_is_refused_out():
    with pytest.raises(InputError, match="called from Python.*\n.*plant alone"):
        to_control(
            ClosedLoop(Pendulum(), Sampled(lambda t, y, r: [0.0], 0.01)), linear=True, inputs=("w",)
        )


def test_an_output_must_not_borrow_the_name_of_another_state():
    with pytest.raises(ValueError, match="another quantity"):
        LinearPlant((-1.0, 0.0, 0.3, -2.0), (1.0, 0.5), (0.0, 1.0), ("a", "b"), ("u",), ("a",))


def test_the_crane_with_shut_valves_is_linearised_on_the_side_chosen():
    """As it stands, all valves shut: neither side is right, so one is chosen, and said."""
    crane = machine("hiab-xs031").plant
    with pytest.raises(InputError, match="exactly at its edge"):
        linearize(crane, crane.initial())
    plus, minus = to_control(crane, linear=True), to_control(crane, linear=True, side=-1)
    assert plus.name.endswith("u_1, u_2, u_t2 open to +") and minus.name.endswith("open to −")
    assert plus.input_labels == ["u_1", "u_2", "u_t2"] and plus.nstates == len(crane.states)
    # Spools of second order: the command moves the spool, whatever its side; the spool moves pressures by what its edges see.
    assert np.array_equal(plus.B, minus.B) and not np.allclose(plus.A, minus.A)
    states = [s.name for s in crane.states]
    k, p_a = states.index("u_s_1"), states.index("p_a1")
    x = list(crane.initial())

    def rate(u):
        return crane.rhs(0.0, [u if i == k else v for i, v in enumerate(x)], crane_inputs(crane))[
            p_a
        ]

    for sys, side in ((plus, 1), (minus, -1)):
        assert sys.A[p_a, k] == pytest.approx(
            (rate(side * 2e-3) - rate(side * 1e-3)) / (side * 1e-3), rel=1e-6
        )


def crane_inputs(crane):
    return [crane.defaults().get(s.name, 0.0) for s in crane.inputs]


def test_open_valves_stay_where_they_are():
    crane = build(Manipulator, read(HIAB).value["plant"], "plant").locked(extension=0.5)
    states = [s.name for s in crane.states]
    x = [1.3 if n == "u_s_1" else v for n, v in zip(states, crane.initial())]
    sys = to_control(crane, x, [1.3, 0.0], linear=True, side=-1)
    assert sys.name.endswith(", u_2 open to −")
    wide = [
        1.3 if n == "u_s_1" else -0.7 if n == "u_s_2" else v
        for n, v in zip(states, crane.initial())
    ]
    assert "open to" not in to_control(crane, wide, [1.3, -0.7], linear=True).name
    with pytest.raises(InputError, match="side 0"):
        to_control(crane, linear=True, side=0)
