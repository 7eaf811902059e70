"""A resonance behind a dead time: unstable in a window of delays that no scan of a dozen values meets.

    ẋ = u,  ẍ_1 = ω² (u − x_1) − 2 ζ ω ẋ_1,  y = x + g x_1,  u = K (r − y)      ω = 2π · 38 Hz, ζ = 0.03

Its exact matrix at whole samples of delay says where it is stable.
"""

import numpy as np
import pytest
from scipy.signal import cont2discrete

from controllers import PID
from workbench import ClosedLoop, Delayed, Sampled, Scenario, Waypoints, verify
from workbench.interop.linear_plant import LinearPlant
from workbench.verification import claims as C
from workbench.verification.practical.limits import between
from workbench.verification.practical.limits.between import windows
from workbench.verification.variant import variant

T = 1e-3
K = 5.0
SCENARIO = Scenario(8.0, Waypoints("output", ("start", (0.05,), (0.0,)), leg=1.0))
NAMES = (("x", "x_1", "v_1"), ("u",), ("y",))


def plant(g: float, frequency: float = 38.0, ζ: float = 0.03) -> LinearPlant:
    ω = 2 * np.pi * frequency
    A = (0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, -(ω**2), -2 * ζ * ω)
    return LinearPlant(A, (1.0, 0.0, ω**2), (1.0, g, 0.0), *NAMES)


def loop(g: float, delay: float = 0.0, frequency: float = 38.0) -> ClosedLoop:
    own = plant(g, frequency)
    law = PID(own, K_p=(K,), K_i=(0.0,), feed="none", damping="none", u_max=1e6)
    sampled = Sampled(law, T_s=T)
    return ClosedLoop(own, Delayed(sampled, delay) if delay else sampled)


def radius(own: LinearPlant, late: int) -> float:
    """Largest |λ| of the loop whose commands are late by whole samples, from its exact matrix."""
    A, B, C = (np.reshape(m, s) for m, s in ((own.A, (3, 3)), (own.B, (3, 1)), (own.C, (1, 3))))
    A, B, *_ = cont2discrete((A, B, C, np.zeros((1, 1))), T)
    M = np.zeros((3 + late, 3 + late))
    M[:3, :3] = A
    if late == 0:
        M -= B @ (K * C)
    else:
        M[:3, -1:] = B
        M[3, :3] = -K * C
        M[np.arange(4, 3 + late), np.arange(3, 2 + late)] = 1.0
    return float(np.abs(np.linalg.eigvals(M)).max())


def delayed(g: float):
    """value → (loop, scenario) of a dead time."""
    return lambda late: variant(loop(g), SCENARIO, delay=late, capacity=16)


# ---- windows ------------------------------------------------------------------------------------------------------------
def test_the_window_is_where_the_exact_matrix_has_it():
    """Of whole samples it grows at 5 to 8; the worst value of the window grows at the rate that its matrix says."""
    assert [late for late in range(10) if radius(plant(0.0134), late) > 1] == [5, 6, 7, 8]
    (found,) = windows(delayed(0.0134), 0.0, 9e-3)
    assert 5e-3 < found.value < 8e-3
    assert found.rate == pytest.approx(np.log(radius(plant(0.0134), 6)) / T, rel=0.05)


def test_a_weaker_resonance_has_no_window():
    assert max(radius(plant(0.005), late) for late in range(10)) < 1
    assert windows(delayed(0.005), 0.0, 9e-3) == ()


def test_two_windows_are_two():
    """At 80 Hz the phase turns by 360° in 12.5 ms: a second window begins one turn after the first."""
    make = lambda late: variant(loop(0.02, frequency=80.0), SCENARIO, delay=late, capacity=32)
    first, second = windows(make, 0.0, 18e-3)
    assert second.value - first.value == pytest.approx(12.5e-3, abs=1e-3)


def test_nothing_is_looked_at_where_nothing_is_asked_beyond_the_loops_own(monkeypatch):
    monkeypatch.setattr(between, "simulated", None)
    assert windows(delayed(0.0134), 2e-3, 2e-3) == ()


def test_a_loop_that_grows_by_itself_has_no_window_of_its_own():
    assert windows(delayed(0.0134), 6e-3, 9e-3) == ()


# ---- claims -------------------------------------------------------------------------------------------------------------
def verdict(g: float, claim, **changed):
    return verify(loop(g, **changed), SCENARIO, [C.PracticalStability(runs=2), claim])[-1]


@pytest.mark.parametrize("g, holds", [(0.005, True), (0.0134, None), (0.03, False)])
def test_a_delay_that_is_asked_for_across_a_window(g, holds):
    """Barely unstable in it: no run shows it. Clearly unstable: a run at the window's worst value does."""
    found = verdict(g, C.DelayLimit(at_least=9e-3))
    assert found.holds is holds, found.worst
    if holds is None:
        assert "at delay 6" in found.worst and "a mode grows" in found.worst


@pytest.mark.parametrize("factor, holds", [(1.1, True), (1.3, None)])
def test_a_parameter_up_to_where_the_loop_grows_slowly(factor, holds):
    """With 6 ms of delay the loop grows from g = 0.0128 on, at 1.3 times 0.01 so slowly that no run shows it."""
    assert radius(plant(0.011), 6) < 1 < radius(plant(0.013), 6)
    claim = C.ParameterLimit("C.1", to=factor, error=1.0)
    found = verdict(0.01, claim, delay=6e-3)
    assert found.holds is holds, found.worst
    if holds is None:
        assert "at C.1 × 1.3 a mode grows" in found.worst
