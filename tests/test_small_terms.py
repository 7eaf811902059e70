"""Terms that a sum hides: energy of bent bristles in a cylinder's own account, the ports' pressures, rounding outwards, G(∞)."""

from dataclasses import replace
from math import pi

import numpy as np
import pytest
from draws import plant_inputs, plant_state

from plants import machine
from plants.components.friction import LuGre
from plants.components.friction.enclosure import ROUNDING, total
from plants.components.radial_pump import RadialPump
from tests.faults.entries import Entry, make
from workbench import simulate
from workbench.numerics.calculus import directional
from workbench.verification import claims as C
from workbench.verification.hypotheses import check_hypotheses
from workbench.verification.linear.systems import LinearSystem
from workbench.verification.run import Run

BRISTLES = LuGre(F_c=210.0, F_s=300.0, v_s=5e-3, b=330.0, σ_0=6e6, σ_1=2e4)


def test_bent_bristles_are_in_the_account_of_a_throttled_cylinder():
    """d(stored)/dt is the sum of the powers with the bristles bent, and the bristles' energy counts in it: ½ σ_0 z²."""
    bars = machine("four-bar").plant
    plant = replace(bars, circuit=replace(bars.circuit, friction=BRISTLES))
    rng = np.random.default_rng(4)
    bent = next(i for i, s in enumerate(plant.states) if s.name.startswith("z") and s.name != "z_1")
    u = plant_inputs(rng, plant, False)
    n = len(plant.states)
    for z in (3e-5, -7e-5):
        x = plant_state(rng, plant)
        x[0] = float(plant.initial()[0]) + 0.05
        x[bent] = z
        (change,) = directional(
            lambda s: [plant.stored(0.0, s[:n], u)], x, list(plant.rhs(0.0, x, u))
        )
        powers = [float(p) for p in plant.powers(0.0, x, u)]
        assert abs(change - sum(powers)) < 1e-11 * sum(map(abs, powers))
        straight = [v if i != bent else 0.0 for i, v in enumerate(x)]
        held = float(plant.stored(0.0, x, u)) - float(plant.stored(0.0, straight, u))
        assert held == pytest.approx(0.5 * BRISTLES.σ_0 * z * z, rel=1e-6)


def test_ideal_pistons_have_the_pressure_of_the_port_they_are_at():
    """On its own side p_1, on the other p_2, in the middle of the change the mean: between the two at every angle."""
    pump = RadialPump()
    p_1, p_2 = 7.3e5, 2.1e5
    turn = np.linspace(0.0, 2 * pi, 41)
    pistons = [piston for φ in turn for piston in pump.pistons(float(φ), 1.3e-4)]
    found = np.array(pump.at_ports(pistons, p_1, p_2), float)
    shares = np.array([float(pump.share(piston)) for piston in pistons])
    assert len(found) and found.min() >= p_2 - 1e-6 and found.max() <= p_1 + 1e-6
    assert found[shares == 1.0] == pytest.approx(p_1) and found[shares == 0.0] == pytest.approx(p_2)
    assert (shares == 1.0).any() and (shares == 0.0).any()


def test_a_sum_of_intervals_is_rounded_outwards_by_its_terms():
    """Both ends lie outside the exact sums by `ROUNDING` of the terms' magnitudes, large or small, and by no more."""
    for size in (1e-6, 1.0, 1e8):
        terms = (
            (np.array([-3.0 * size]), np.array([5.0 * size])),
            (np.array([2.5 * size]), np.array([7.0 * size])),
        )
        low, high = total(*terms)
        assert -0.5 * size - low[0] == pytest.approx(ROUNDING * 5.5 * size, rel=1e-2)
        assert high[0] - 12.0 * size == pytest.approx(ROUNDING * 12.0 * size, rel=1e-2)


def test_the_response_at_infinite_frequency_is_the_feedthrough():
    """Of a system with states and of one without; below that the one without is constant and the other not."""
    moving = LinearSystem([[-2.0]], [[3.0]], [[1.0]], [[0.7]])
    still = LinearSystem(np.zeros((0, 0)), np.zeros((0, 1)), np.zeros((1, 0)), [[0.7]])
    for system in (moving, still):
        assert system.at(np.inf)[0, 0] == 0.7
    assert still.at(5.0)[0, 0] == 0.7
    assert moving.at(5.0)[0, 0] == pytest.approx(0.7 + 3.0 / (2.0 + 5.0j))


def test_positive_gains_of_a_metered_crane_are_its_own():
    """k_x of the law behind metering valves is asked about, not that of the bodies' law inside, which has none."""
    made = make(Entry("crane", "supply", True, "", base="imvcrane-vdc"))
    short = replace(made.scenario, duration=0.05)
    run = Run(made.loop, short, simulate(made.loop, short))
    found = check_hypotheses(C.Hypotheses(), run).data["assumptions"]
    own = next(a for a in found if a["text"].startswith("K_A ≻ 0"))
    assert own["holds"] is True and own["margin"] > 0
