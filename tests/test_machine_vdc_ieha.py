"""Virtual decomposition control of mechanisms that electro-hydraulic actuators drive: the pump's ring is the valve."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from machine_ledger import at_random, loop_of, open_cuts, unbalanced
from scipy.integrate import solve_ivp

from controllers import VDC
from controllers.vdc.drives import ieha_pump
from plants import LuGre, machine
from plants.components.chamber import Oil
from workbench import InputError
from workbench.cases.file import load
from workbench.contract.system import names

EXAMPLE = Path(__file__).parents[1] / "examples" / "ieha-arm.yaml"
ARM = load(EXAMPLE).plant


def with_drives(**changes):
    """The arm with other drives."""
    actuators = tuple(replace(a, drive=replace(a.drive, **changes)) for a in ARM.actuators)
    return replace(ARM, actuators=actuators)


def test_its_ledger_closes_and_every_cut_cancels():
    """With bristles of friction that are observed, too."""
    law = VDC(with_drives(friction=LuGre(F_c=9.0, F_s=14.0, v_s=0.01, b=20.0, σ_0=1e5)))
    b = at_random(loop_of(law), 7)
    assert not unbalanced(b) and not open_cuts(b)
    assert (b.dissipation >= 0).all()
    assert all(
        np.abs(d).max() < 1e-9
        for (_, _, name), d in b.perturbations.items()
        if name in ("valve inverse", "parameters", "model")
    )


def test_a_pump_that_turns_slower_than_the_law_knows_is_named():
    slower = with_drives(pump=replace(ARM.actuators[0].drive.pump, ω=0.8 * 314.0))
    b = at_random(loop_of(VDC(ARM), slower), 7)
    assert not unbalanced(b) and not open_cuts(b)
    named = {name for (_, _, name), d in b.perturbations.items() if np.abs(d).max() > 1e-6}
    assert "parameters" in named and "model" not in named


def test_the_ring_is_where_the_pump_gives_the_flow():
    drive, rng = ARM.actuators[0].drive, np.random.default_rng(2)
    for _ in range(20):
        P_A, P_B = (float(v) for v in rng.uniform(-5e5, 4e6, 2))
        Q = float(1e-5 * rng.normal())
        E = ieha_pump.eccentricity(drive, Q, P_A, P_B)
        assert ieha_pump.pumped(drive, E, P_A, P_B) == pytest.approx(Q, rel=1e-12)
        # Beyond the overlap, and where the side that is fed loses oil, it is the averaged pump itself.
        fed = P_A if Q >= 0 else P_B
        if abs(E) > 1e-5 and drive.pump.mean_loss(0.0, fed, drive.oil.β) <= 0:
            made = drive.delivery(0.0, drive.whole([E, 0.0, 0.0, P_A, P_B], drive.middle, 0.0))
            assert made.Q_A - made.Q_B == pytest.approx(Q, rel=0.02, abs=1e-8)


# ---- open circuits ----------------------------------------------------------------------------------------------------
OPEN = replace(ARM.actuators[0].drive, circuit="open", oil=Oil(β=800e6))  # no air


def forced(drive, E, P_A, P_B):
    """u_f of the drive at rest with its ring at E, by ḟ_p of its own equations and the leakage that (90) takes away."""
    x = [E, 0.0, 0.0, P_A, P_B]
    rates = drive.rates(x, drive.middle, 0.0, [E], None)
    f_rate = drive.S_A * rates[3] - drive.S_B * rates[4]
    return float(f_rate / drive.oil.β + ieha_pump.drift(drive, 0.0, 0.0, P_A, P_B))


def test_an_open_circuit_is_refused_with_what_its_tank_takes():
    with pytest.raises(InputError, match="open circuit, which can raise a force .* l/min") as why:
        VDC(with_drives(circuit="open"))
    assert "actuator shoulder" in why.value.message and "circuit: closed" in why.value.mend


@pytest.mark.parametrize("P_A", [3e5, 12e5])
def test_no_place_of_the_ring_lowers_a_force_by_degrees(P_A):
    """Beyond the edges of the distributor u_f is that of pump or overlap, or less than what the open port takes."""
    edge, most = OPEN.distributor.E_d + OPEN.distributor.w, OPEN.stop_E.limit
    g_A, _ = ieha_pump.gains(OPEN, 0.0)
    shut = np.linspace(-OPEN.distributor.E_d, OPEN.distributor.E_d, 9)
    fed = [forced(OPEN, float(E), P_A, OPEN.P_T) for E in (*shut, *np.linspace(edge, most, 9))]
    tank = [forced(OPEN, float(E), P_A, OPEN.P_T) for E in np.linspace(-most, -edge, 9)]
    gap = -g_A * OPEN.c * OPEN.pump.A_0 * (P_A - OPEN.P_T) ** 0.5
    # What the pump gives varies by this much over the whole travel of its ring.
    pumped = g_A * OPEN.pump.mean_flow(most)
    assert max(tank) < 0.99 * gap
    assert gap < -10.0 * pumped and min(fed) > -0.1 * pumped


def test_a_force_is_lost_in_the_time_that_is_said():
    """The piston held and the ring beyond the edge: SciPy follows the drive's own equations down to a hundredth."""
    P, E = 10e5, -(OPEN.distributor.E_d + 2 * OPEN.distributor.w)
    said = ieha_pump.lost_within(OPEN, P)

    def rates(t, p):
        return OPEN.rates([E, 0.0, 0.0, p[0], OPEN.P_T], OPEN.middle, 0.0, [E], None)[3:4]

    # √P falls in proportion to time: a tenth of it, a hundredth of the pressure, is left at 0.9 of it.
    left = solve_ivp(rates, (0.0, 0.9 * said), [P], "LSODA", rtol=1e-9, atol=1.0).y[0, -1]
    assert left == pytest.approx(OPEN.P_T + 0.01 * (P - OPEN.P_T), rel=0.05)
    assert said < 1e-3


def test_a_closed_circuit_lowers_a_force_by_degrees():
    """The same grid of the ring: the steps of u_f are those of the pump."""
    closed = replace(OPEN, circuit="closed")
    most = closed.stop_E.limit
    E = np.linspace(-most, most, 41)
    u_f = np.array([forced(closed, float(e), 12e5, -12e5) for e in E])
    assert (np.diff(u_f) >= 0).all()
    assert np.diff(u_f).max() < 3.0 * np.median(np.diff(u_f))


# ---- the shipped actuator with its load ------------------------------------------------------------------------------
SHIPPED = machine("ieha-control").plant
MOVING = {"E": 2e-5, "P_A": 2e5, "P_B": -1e5, "Y": 3e-3, "dY": 0.02}


def at_state(law):
    """What a law forms at one state of the actuator in motion."""
    plant = law.model
    by_name = dict.fromkeys(names(SHIPPED.states), 0.0) | MOVING
    x = SHIPPED.inner([by_name[name] for name in names(SHIPPED.states)])
    state = x if plant is SHIPPED.mechanism else SHIPPED.outer(x)
    measured = dict(zip(names(plant.outputs), plant.out(0.0, state)))
    r = [3.1e-3, 0.021, 0.3, -2.0]
    return law.sought([0.0] * len(law.states), [measured[s.name] for s in law.measured], r)


def test_the_shipped_actuator_is_served_as_the_mechanism_with_its_drive():
    own, other = at_state(VDC(SHIPPED)), at_state(VDC(SHIPPED.mechanism))
    assert own.u[0] != 0.0 and own.u == other.u and own.f_pr == other.f_pr


@pytest.mark.parametrize("detail", ["averaged", "ripple"])
def test_the_ledger_of_the_shipped_actuator_closes(detail):
    """The load that pushes from outside enters by a cut of its own; φ of a pump that pulses is that of the time."""
    law = VDC(replace(SHIPPED, detail=detail))
    b = at_random(loop_of(law), 3, E=3e-4)
    assert not unbalanced(b) and not open_cuts(b)
    assert {"actuator Y", "load ext"} <= {component for _, component in b.entries}
