"""What a certificate asks of the pump, and runs whose chambers fall below vacuum."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from test_on_pump import CRANE, PUMPS, inputs, state, told

from controllers import PID, VDC
from plants.crane.load_sensing import LoadSensed
from workbench import ClosedLoop, Sampled, Scenario
from workbench.contract.parameters import bind
from workbench.contract.system import names
from workbench.planning.measured_supply import OnMeasuredSupply
from workbench.verification import run_claims
from workbench.verification.observed import pump
from workbench.verification.observed.energy_claims import resting_on
from workbench.verification.observed.requirements import check_pressures
from workbench.verification.run import Run, run


def assumed(plant, controller, **rows):
    """The assumptions about the pump on a run whose log has these rows, the others at rest."""
    still = {f"{stem}{k}": 0.0 for k in plant.labels for stem in ("u_s_", "dx_", "f_p")}
    still |= dict.fromkeys(plant.supply_names, 100e5)
    log = SimpleNamespace(
        time=np.array([0.0, 1.0]), array=lambda name: np.array(rows.get(name, [still[name]] * 2))
    )
    return list(
        pump.pump(
            SimpleNamespace(loop=SimpleNamespace(plant=plant, controller=controller), log=log)
        )
    )


def test_a_law_that_is_not_told_is_found_out():
    plant = PUMPS["load sensing"]
    assert assumed(plant, Sampled(OnMeasuredSupply(VDC(CRANE)), 1e-3))[0].holds
    bare = assumed(plant, Sampled(VDC(CRANE), 1e-3))[0]
    assert bare.holds is False and "185 bar" in bare.worst


def test_the_supply_pressure_never_leaves_the_interval_of_its_aim():
    plant, rng = PUMPS["electric"], np.random.default_rng(11)
    low, high = plant.supply_range
    for p_s, sign in ((low, 1), (high, -1)):
        for _ in range(5):
            x = state(rng, plant)
            x[-1] = p_s
            assert sign * plant.rhs(0.0, x, inputs(plant, rng))[-1] >= 0
    law = Sampled(OnMeasuredSupply(VDC(CRANE)), 1e-3)
    assert (
        assumed(plant, law, p_s=[low, high])[1].holds
        and not assumed(plant, law, p_s=[low - 1e4, high])[1].holds
    )


def test_steady_pressures_balance_both_notches():
    """The closed form against the flows of the valve itself."""
    c, rng = CRANE.cylinders[0], np.random.default_rng(13)
    c = replace(
        c, valve=replace(c.valve, c_n1=1.3 * c.valve.c_n1, c_p2=0.8 * c.valve.c_p2, width=0.0)
    )
    for o in (2.0, -2.0):
        p_s, f_p = 140e5, float(rng.uniform(5e3, 9e3))
        fill = float(pump.steady(c, o, f_p, p_s, 10e5))
        p_a, p_b = (
            (fill, (c.A_a * fill - f_p) / c.A_b) if o > 0 else ((f_p + c.A_b * fill) / c.A_a, fill)
        )
        Q_a, Q_b = c.valve.flows(o, p_a, p_b, p_s, 10e5)
        assert Q_a / c.A_a == pytest.approx(-Q_b / c.A_b, rel=1e-9)
    assert float(pump.steady(c, 0.0, 1e4, 70e5, 10e5)) == 70e5


def test_a_load_that_runs_away_from_the_oil_is_named_with_the_pressure_that_would_hold_it():
    plant, law = PUMPS["load sensing"], Sampled(OnMeasuredSupply(VDC(CRANE)), 1e-3)
    sinking = {"u_s_1": [0.0, -1.0], "dx_1": [0.0, -0.05], "f_p1": [6e4, 6e4]}
    low, enough = (assumed(plant, law, p_s=[p, p], **sinking)[2] for p in (38e5, 60e5))
    assert (
        low.holds is False
        and "cylinder 1" in low.text
        and "chamber b" in low.worst
        and "t = 1.00 s" in low.worst
    )
    need = float(low.worst.split("not the ")[1].split(" bar")[0]) * 1e5
    assert (
        enough.holds
        and abs(float(pump.steady(CRANE.cylinders[0], -1.0, 6e4, need, CRANE.p_r))) < 0.05e5
    )
    lifting = sinking | {
        "u_s_1": [0.0, 1.0]
    }  # the valve pushes against the motion: nothing steady about it
    assert assumed(plant, law, p_s=[38e5, 38e5], **lifting)[2].holds


def test_chambers_below_vacuum_leave_nothing_that_holds():
    """Oil without air follows below zero, real oil does not; with air in it the model has cavitation, and may be trusted."""
    loop = told(LoadSensed(CRANE.locked(extension=0.5)), PID)
    r = run(loop, Scenario(duration=0.02), compiled=False)
    assert r.hollow == (np.inf, "")
    k = names(loop.states).index("p_b2")
    values = r.log.values.copy()
    values[5:, k] = -1e5
    log = replace(r.log, values=values)
    bad = Run(loop, r.scenario, log)
    assert (
        bad.hollow[0] == pytest.approx(log.time[5])
        and "cavitates" in check_pressures(run_claims.Pressures(), bad).worst
    )
    verdict = check_pressures(run_claims.Pressures(), r)
    assert verdict.holds
    energy = SimpleNamespace(holds=True)
    assert (
        resting_on(verdict, energy, r) is verdict and resting_on(verdict, energy, bad).holds is None
    )
    airy = ClosedLoop(bind(loop.plant, {"machine.oil.air": 0.01}), loop.controller)
    assert Run(airy, r.scenario, log).hollow == (np.inf, "")
