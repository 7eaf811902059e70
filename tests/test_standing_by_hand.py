"""A loop linearised at rest, from small matrices: flows, samples, fractions of a delay, what is no equilibrium, shut valves."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.linalg import expm
from small import Feedback, Linear

from workbench import ClosedLoop, Delayed, InputError, Sampled, Scenario, Signal
from workbench.run.start import start_state
from workbench.verification.linear import local
from workbench.verification.linear.commanded_at_rest import HAIR, refuse_shut
from workbench.verification.linear.local import chambers, standing
from workbench.verification.linear.loop import closed, point

A = np.array([[-1.0, 0.5], [0.25, -3.0]])
B = np.array([[2.0, 0.1], [0.0, 1.0]])
C = np.array([[1.0, 0.2], [0.0, 2.0]])
E = ((0.7,), (0.3,))
K = np.array([[0.4, -0.3], [0.6, 0.8]])
START = np.array([0.5, -0.2])


def rows(M):
    return tuple(map(tuple, M.tolist()))


PLANT = Linear(rows(A), rows(B), rows(C), E, tuple(START))
LAW = Feedback(PLANT, rows(K))


def stands(controller, x0=START, **given):
    loop, scenario = ClosedLoop(PLANT, controller), Scenario(1.0, **given)
    x = start_state(loop, scenario)
    x[:2] = x0
    (found,) = standing(loop, scenario, x)
    return found


# ---- flows --------------------------------------------------------------------------------------
def test_a_continuous_loop_is_its_flow():
    found = stands(LAW)
    assert found.A == pytest.approx(A - B @ K @ C)
    assert found.B == pytest.approx(B) and found.C == pytest.approx(-K @ C)
    assert (found.states, found.T, found.sides) == (("x0", "x1"), None, ())
    assert found.residual == pytest.approx(np.abs((A - B @ K @ C) @ START).max())
    assert (found.deflated, found.leak) == (0, 0.0)


@pytest.mark.parametrize("push", [0.0, 3.0])
def test_disturbances_are_what_they_are_by_default(push):
    found = stands(LAW, disturbances={"w0": push})
    assert found.residual == pytest.approx(np.abs((A - B @ K @ C) @ START).max())
    assert stands(LAW, np.zeros(2), disturbances={"w0": push}).residual == 0.0


def test_the_reference_is_where_the_loop_stands():
    """With as much of the reference as of the measurement nothing is commanded there."""
    found = stands(Feedback(PLANT, rows(K), rows(K)))
    assert found.residual == pytest.approx(np.abs(A @ START).max())
    assert found.A == pytest.approx(A - B @ K @ C)


# ---- samples ------------------------------------------------------------------------------------
def held(T):
    """(Φ, Γ) of the plant behind a hold."""
    whole = expm(np.block([[A, B], [np.zeros((2, 4))]]) * T)
    return whole[:2, :2], whole[:2, 2:]


def test_a_sampled_loop_is_held_from_sample_to_sample():
    """(x, held) → (Φ x − Γ K C x, −K C x); a signal added to each command enters as it."""
    found = stands(Sampled(LAW, 0.1))
    Φ, Γ = held(0.1)
    assert found.states == ("x0", "x1", "u0_held", "u1_held") and found.T == 0.1
    assert found.A == pytest.approx(
        np.block([[Φ - Γ @ K @ C, np.zeros((2, 2))], [-K @ C, np.zeros((2, 2))]])
    )
    assert found.B == pytest.approx(np.vstack([Γ, np.eye(2)]))
    assert found.C == pytest.approx(np.hstack([-K @ C, np.zeros((2, 2))]))
    assert found.residual == pytest.approx(np.abs((A - B @ K @ C) @ START).max())


@pytest.mark.parametrize("delay", [0.0, 0.03, 0.1, 0.25])
def test_a_delay_and_fractions_of_it_have_the_modes_of_the_exact_loop(delay):
    loop = ClosedLoop(PLANT, Delayed(Sampled(LAW, 0.1), delay))
    found = stands(loop.controller)
    exact = closed(loop, point(PLANT, {}))[0]
    modes = lambda M: sorted(v for v in np.abs(np.linalg.eigvals(M)) if v > 1e-4)
    assert modes(found.A) == pytest.approx(modes(exact), rel=1e-6)


# ---- what has no slope --------------------------------------------------------------------------
@pytest.mark.parametrize(
    "off, shut", [(0.0, True), (1.0, True), (-1.0, True), (1.01, False), (-1.01, False)]
)
def test_valves_that_are_just_shut_have_no_slope(off, shut):
    """A valve that the law does not command, w, is at its default."""
    plant = SimpleNamespace(just_shut={"u": 0.25, "w": 0.0})
    loop = SimpleNamespace(plant=plant, defaults=lambda: {"w": 0.5})
    wanted = np.array([0.25 + off * HAIR * (1 - 1e-6), 9.0])
    if not shut:
        refuse_shut(loop, ["u", "v"], wanted)
        return
    with pytest.raises(InputError, match="no slope at rest: u shuts its valves there"):
        refuse_shut(loop, ["u", "v"], wanted)


def test_a_valve_that_nobody_commands_is_shut_by_its_default():
    loop = SimpleNamespace(plant=SimpleNamespace(just_shut={"w": 0.0}), defaults=dict)
    with pytest.raises(InputError, match="no slope at rest: w shuts its valves there"):
        refuse_shut(loop, ["u"], np.array([9.0]))


def test_a_law_called_from_python_stands_where_the_plant_begins(monkeypatch):
    """M as it is from sample to sample; the plant's own rate there, by the sizes of its states."""
    import workbench.verification.linear.loop as linear

    M = np.diag([0.5, 0.2, 0.1])
    monkeypatch.setattr(linear, "closed", lambda loop, at: (M, M[:, :1], M[:1]))
    monkeypatch.setattr(linear, "point", lambda plant, at: SimpleNamespace(x=[1.0, 2.0], u=[3.0]))
    plant = SimpleNamespace(
        states=(Signal("p", "Pa"), Signal("v", "m/s")), rhs=lambda t, x, u: [-4e5, x[1] * u[0]]
    )
    loop = SimpleNamespace(plant=plant, period=0.1, hosted=True)
    (found,) = standing(loop, None, None)
    sizes = local._sizes(plant.states)
    assert found.residual == pytest.approx(max(4e5 / sizes[0], 6.0 / sizes[1]))
    assert found.states == ("p", "v", "the law's memory") and found.T == 0.1
    assert found.A is M and found.sides == ()


def test_sizes_of_states():
    """Bristles bend by 10 µm, pressures are megapascals; a voltage changes by 100 V/s."""
    kinds = [(True, "m"), (False, "m"), (False, "Pa"), (False, "V/s"), (False, "?")]
    signals = [SimpleNamespace(bristle=bristle, unit=unit) for bristle, unit in kinds]
    assert local._sizes(signals).tolist() == [1e-5, 1.0, 1e6, 100.0, 1.0]


def test_chambers_of_cylinders_and_filters_of_them():
    plant = SimpleNamespace(labels=("1", "2"), cylinders=("first", "second"))
    state = ["p_a1", "p_b1", "p_a1_slow", "p_b1_slow", "p_a2"]
    assert chambers(plant, state) == {
        "p_a1": ("p_b1", "first"),
        "p_a1_slow": ("p_b1_slow", "first"),
    }
