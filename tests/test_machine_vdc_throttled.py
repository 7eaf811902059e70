"""Virtual decomposition control of a cylinder behind a throttle: what its voltage does, its row of the ledger, its faults."""

from dataclasses import replace

import numpy as np
import pytest
from machine_ledger import at_random, loop_of, open_cuts, quadrature_gap, unbalanced
from mechanisms import FRICTIONS, hydraulic
from scipy.optimize import brentq

from controllers import VDC
from controllers.vdc.drives.throttled import ThrottledPart
from workbench import Scenario, Waypoints, simulate
from workbench.verification.claims import Hypotheses
from workbench.verification.ledger.balance import balance
from workbench.verification.run import run

MECHANISM = hydraulic("minimal", gravity=(0.0, -9.81, 0.0))


def settled(circuit, p_2, p_3, U, s, v):
    """p_1 at which valve and throttle carry the same flow, and ṗ_2, ṗ_3 there."""
    rates = lambda p_1: circuit.rates([p_1, p_2, p_3, U], s, v, [U])
    p_1 = brentq(lambda p: rates(p)[0], 0.0, 9e6, xtol=1e-6)
    return p_1, *rates(p_1)[1:3]


def test_the_voltage_passes_the_flow_that_moves_the_force_as_required():
    """By the circuit's own rates, behind a valve without lag that has settled: ḟ_p = ḟ_pr + β k_x Δṡ + β k_f Δf."""
    circuit = MECHANISM.actuators[0].drive
    (part,) = VDC(MECHANISM, k_x=(4e-3,), βk_f=(50.0,)).parts
    rng, β = np.random.default_rng(2), circuit.B_oil
    for _ in range(8):
        p_2, p_3 = (float(p) for p in rng.uniform(2e6, 5e6, 2))
        s, v, v_r = 1.7 + 0.05 * rng.normal(), 0.02 * rng.normal(), 0.02 * rng.normal()
        f_pr, rate = 3e3 * rng.normal(), 3e4 * rng.normal()
        U = part.command(s, v, v_r, (p_2, p_3), [], f_pr, rate, None)
        p_1, dp_2, dp_3 = settled(circuit, p_2, p_3, U, s, v)
        force = circuit.A_2 * p_2 - circuit.A_3 * p_3
        moved = circuit.A_2 * dp_2 - circuit.A_3 * dp_3
        wanted = rate + β * 4e-3 * (v_r - v) + 50.0 * (f_pr - force)
        laminar = abs(p_1 - p_2) < circuit.p_l  # there the series is only nearly right
        assert moved == pytest.approx(wanted, rel=0.05 if laminar else 1e-6)


@pytest.mark.parametrize("friction", FRICTIONS)
def test_its_ledger_closes_and_every_cut_cancels(friction):
    law = VDC(hydraulic("minimal", friction))
    b = at_random(loop_of(law), 3)
    assert not unbalanced(b) and not open_cuts(b)
    assert (b.dissipation >= 0).all()
    assert all(
        np.abs(d).max() < 1e-9
        for (_, _, name), d in b.perturbations.items()
        if name in ("valve inverse", "parameters", "model")
    )


def path(angle=0.05, leg=1.5):
    """Crank from its start by `angle` and back."""
    return Waypoints("joint", ("start", (np.pi / 3 + angle,), "start"), leg)


def test_v̇_is_the_derivative_of_v_along_the_run():
    """Both come from the same states, but v̇ never from v; halving the step shows the order."""
    law = VDC(hydraulic("minimal", "Bengisu–Akay"))
    scenario = Scenario(0.1, path(), offset={"q_crank": 0.01, "U_c": 1.5})
    gaps = [quadrature_gap(law, scenario, h) for h in (1e-4, 5e-5)]
    assert gaps[0] < 1e-5 and gaps[0] / gaps[1] > 3, gaps


def account(law, plant=None, duration=3.4):
    loop, scenario = loop_of(law, plant), Scenario(duration, path())
    log = simulate(loop, scenario)
    assert log.status.completed
    return balance(loop, scenario, log), log


def test_the_crank_follows():
    b, log = account(VDC(MECHANISM))
    late = log.time > 0.2
    assert np.abs(log.array("e_q_crank")[late]).max() < 3e-4
    assert not unbalanced(b)
    named = {name for (_, _, name), d in b.perturbations.items() if np.abs(d).max() > 1e-6}
    assert {"spool", "throttle", "hold"} <= named
    assert not named & {"model", "parameters", "valve inverse", "saturation"}


def test_a_heavier_coupler_is_named_as_the_model():
    known = replace(MECHANISM.bodies[1], mass=0.8 * MECHANISM.bodies[1].mass)
    believed = replace(MECHANISM, bodies=(MECHANISM.bodies[0], known, MECHANISM.bodies[2]))
    b = at_random(loop_of(VDC(believed), MECHANISM), 5)
    assert not unbalanced(b) and not open_cuts(b)
    assert (
        max(np.abs(d).max() for (_, _, name), d in b.perturbations.items() if name == "model") > 1
    )


# ---- what it takes for granted ----------------------------------------------------------------------------------------
def judged(plant, duration=1.5):
    law = VDC(plant)
    found = run(loop_of(law), Scenario(duration, path()))
    return {a.text: a for a in law.certificate(plant).hypotheses(found, Hypotheses())}, found


def test_hypotheses_have_the_margins_of_the_run():
    said, found = judged(MECHANISM)
    circuit, log = MECHANISM.actuators[0].drive, found.log
    low, high = circuit.range
    s = np.interp(found.balance.t, log.time, log.array("s_c"))
    room = np.minimum(s - low, high - s).min()
    assert said["piston c inside its stroke"].margin == pytest.approx(room, abs=1e-6)
    volts = said["required opening of c within ±10 V"]
    assert volts.holds and 0 < volts.margin < 10
    assert said["u_f of c rises with the opening"].holds
    assert said["valve of c without lag"].holds is False
    assert said["no oil between valve and throttle of c"].holds is False


def test_a_valve_too_small_for_the_path_is_not_invertible_within_its_range():
    small = replace(MECHANISM.actuators[0].drive, Q_n=24e-3 / 60 / 40)
    slow = replace(MECHANISM, actuators=(replace(MECHANISM.actuators[0], drive=small),))
    said, found = judged(slow)
    assert said["required opening of c within ±10 V"].holds is False
    cut = np.abs(found.balance.perturbation()["saturation"]).max()
    assert cut > 1e-6 and np.abs(found.log.array("U_c")).max() <= 10.0


# ---- planted faults ---------------------------------------------------------------------------------------------------
def faulty(monkeypatch, part=None, module=None):
    """The balance of the machine at random states with a fault in the law's text."""
    for name, value in (part or {}).items():
        monkeypatch.setattr(ThrottledPart, name, value)
    for name, value in (module or {}).items():
        monkeypatch.setattr(f"controllers.vdc.drives.throttled.{name}", value)
    return at_random(loop_of(VDC(hydraulic("minimal"), κ=9.5)), 3)


def test_a_force_error_fed_back_with_the_wrong_sign_is_found_at_its_row(monkeypatch):
    honest = ThrottledPart.wanted

    def flipped(self, drive, s, v, v_r, p, f_pr, f_pr_rate):
        right = honest(self, drive, s, v, v_r, p, f_pr, f_pr_rate)
        fed = self.βk_f / self.drive.B_oil * (f_pr - drive.A_2 * p[0] + drive.A_3 * p[1])
        return right - 2 * fed

    assert set(unbalanced(faulty(monkeypatch, {"wanted": flipped}))) == {"actuator c"}


def test_oil_that_the_moving_piston_takes_and_that_is_forgotten_is_found_at_its_row(monkeypatch):
    b = faulty(monkeypatch, module={"drift": lambda circuit, s, v: 0.0 * v})
    assert set(unbalanced(b)) == {"actuator c"}


def test_a_wrong_gain_of_the_velocity_is_found_at_its_row(monkeypatch):
    honest = ThrottledPart.wanted

    def doubled(self, drive, s, v, v_r, p, f_pr, f_pr_rate):
        right = honest(self, drive, s, v, v_r, p, f_pr, f_pr_rate)
        return right + self.k_x * (v_r - v)

    assert set(unbalanced(faulty(monkeypatch, {"wanted": doubled}))) == {"actuator c"}


def test_a_law_that_opens_half_as_far_is_named_as_another_law(monkeypatch):
    honest = ThrottledPart.command
    halved = lambda self, *given: 0.5 * honest(self, *given)
    b = faulty(monkeypatch, {"command": halved})
    assert not unbalanced(b)
    named = {name for (_, _, name), d in b.perturbations.items() if np.abs(d).max() > 1e-6}
    assert "parameters" in named and "valve inverse" not in named
