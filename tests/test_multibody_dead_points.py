"""Dead points of method minimal, change points of the others, rows of a cut that may be used or left out as the motion goes."""

from dataclasses import replace

import mechanisms
import numpy as np
import pytest
from mechanisms import bar

from controllers import OpenLoop
from plants.drives.laws import Torque
from plants.multibody import dynamics, loops
from plants.multibody.mechanism import Mechanism
from plants.multibody.parts import Actuator, Loop, Place
from workbench import ClosedLoop, Scenario, simulate
from workbench.run.dead_ends import passed, reached
from workbench.verification import run_claims
from workbench.verification.observed.energy_claims import check_energy, resting_on
from workbench.verification.observed.requirements import diverged
from workbench.verification.run import Run


def linkage(ground, crank, coupler, rocker, method, rate, angles):
    """A four-bar without weight, its crank turning freely."""
    bars = (
        bar("crank", "ground", crank, 16.0, start=angles[0], rate=rate, hold=True),
        bar("coupler", "crank", coupler, 64.0, point=(crank, 0.0, 0.0), start=angles[1]),
        bar("rocker", "coupler", rocker, 40.0, point=(coupler, 0.0, 0.0), start=angles[2]),
    )
    cut = Loop("E", Place("rocker", (rocker, 0.0, 0.0)), Place("ground", (ground, 0.0, 0.0)))
    return Mechanism(
        bars, (cut,), (Actuator("m", Torque(), joint="crank"),), (0.0, 0.0, 0.0), method
    )


def parallelogram(method, rate=2.0, angle="60 deg"):
    return linkage(10.0, 2.0, 10.0, 2.0, method, rate, (angle, f"-{angle}", "-120 deg"))


def toggled(method):
    """Its crank cannot go all the way round: coupler and rocker come in line at some 129 degrees."""
    return linkage(4.0, 2.5, 4.0, 2.0, method, 2.0, ("60 deg", "-60 deg", "-60 deg"))


# ---- method minimal --------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("log_period", [None, 0.1])
def test_minimal_stops_at_a_change_point_instead_of_going_on_wrongly(log_period):
    """Flat after (π − π/3)/2 rad/s = 1.047 s; on the branch of the start the rest would gain energy."""
    log = simulate(parallelogram("minimal"), Scenario(3.0, log_period=log_period))
    status = log.status
    assert not status.completed and status.t_end == pytest.approx(np.pi / 3, abs=6e-3)
    for words in (
        "stopped: loop E comes to a dead point",
        "coupler and rocker are in line",
        "method: projected",
    ):
        assert words in status.message
    assert log.time[-1] <= status.t_end and np.ptp(log.array("E_stored")) < 1e-4
    assert log.array("dq_crank")[-1] == pytest.approx(2.0, abs=1e-6)
    assert len(log.time) == (1044 if log_period is None else 11)


def test_minimal_stops_where_its_crank_can_go_no_further():
    log = simulate(toggled("minimal"), Scenario(3.0))
    beyond = simulate(toggled("projected"), Scenario(3.0))
    assert (
        not log.status.completed
        and "dead point" in log.status.message
        and "coupler and rocker" in log.status.message
    )
    assert beyond.status.completed and np.ptp(beyond.array("E_stored")) < 1e-3
    n = len(log.time)
    assert log.array("q_crank") == pytest.approx(beyond.array("q_crank")[:n], abs=1e-4)
    assert (
        beyond.array("q_crank").max() > log.array("q_crank")[-1]
    )  # it comes to the dead point, and back on the other branch


def test_what_stays_away_from_dead_points_runs_on():
    for mechanism in (
        parallelogram("minimal", rate=0.2),
        mechanisms.hydraulic("minimal"),
        mechanisms.hydraulic("projected"),
    ):
        log = simulate(mechanism, Scenario(1.0))
        assert log.status.completed and passed(mechanism, log) == (np.inf, "")
        names = [n for n in log.names if n.startswith("bend")]
        assert (
            len(names) == 1 and 0.01 < log.array(names[0]).min() <= log.array(names[0]).max() <= 1.0
        )


def test_a_stop_is_no_verdict_on_the_loop():
    mechanism = parallelogram("minimal")
    loop = ClosedLoop(mechanism, OpenLoop(mechanism))
    run = Run(loop, Scenario(2.0), simulate(loop, Scenario(2.0)))
    assert diverged("x", "x", run, True, "").holds is None
    assert (
        check_energy(run_claims.EnergyBalance(), run).holds is None
        and "dead point" in check_energy(run_claims.EnergyBalance(), run).worst
    )


# ---- change points ---------------------------------------------------------------------------------------------------------------
def test_a_linkage_driven_through_its_change_point_is_named():
    calm, through = parallelogram("projected", rate=0.2), parallelogram("projected")
    for mechanism, named in ((calm, False), (through, True)):
        loop = ClosedLoop(mechanism, OpenLoop(mechanism))
        run = Run(loop, Scenario(2.0), simulate(loop, Scenario(2.0)))
        t, why = run.crossed
        assert run.log.status.completed and ("change point (loop E)" in why) == named
        assert not named or t == pytest.approx(np.pi / 3, abs=6e-3)
        held = resting_on(_holds(), _holds(), run)
        assert held.holds is (None if named else True) and (why in held.worst or not named)


def _holds():
    from workbench.verification.verdict import Verdict

    return Verdict("some", "some claim", True, "sampled", worst="fine")


def test_zeros_between_rows_are_seen():
    t = np.linspace(0.0, 1.0, 101)
    modulus = np.abs(t - 0.503)
    assert 46 <= reached(modulus, False) <= 50
    assert (
        reached(np.sqrt(0.2 + (t - 0.5) ** 2), False) is None
        and reached(np.full(50, 1e-3), False) is None
    )
    ending = np.sqrt(0.503 - t[:51])
    assert 46 <= reached(ending, False) <= 50
    assert (
        reached(np.array([0.5, 0.49, np.nan]), False) == 2
        and reached(np.array([0.3]), True) is None
    )


# ---- rows of a cut that depend on each other -----------------------------------------------------------------------------------
def test_no_choice_of_rows_degrades_along_the_motion():
    """Bricard's loop: four of five rows are independent; which ones hold best changes, and all of them are used."""
    mechanism = mechanisms.bricard(gravity=(3.0, -9.81, 2.0))
    assert len(mechanism.kept) == 4 and len(mechanism.used) == 5
    log = simulate(mechanisms.turned(mechanism, b0={"rate": 0.8}), Scenario(2.0))
    assert log.status.completed and log.array("open_sixth").max() < 1e-12
    for k in range(0, len(log.time), 400):
        z = [float(log.array(s.name)[k]) for s in mechanism.coordinates]
        rates = [float(log.array(s.name)[k]) for s in mechanism.rates]
        motion = mechanism.moving(z, rates)
        ours, _ = mechanism.accelerations(motion, rates, [])
        rows = mechanism.rows(motion)
        G = np.array(loops.jacobian(mechanism.tree, rows, motion.b), float)
        M, γ = np.array(mechanism.mass_matrix(z)), np.array([row.bias for row in rows], float)
        own = dynamics.tree.inertias(mechanism.bodies, motion)
        Q = np.array(mechanism.loads(motion, own, rates, []), float)
        free = np.linalg.solve(M, Q)
        λ = np.linalg.lstsq(G @ np.linalg.solve(M, G.T), G @ free + γ, rcond=1e-10)[0]
        assert ours == pytest.approx(free - np.linalg.solve(M, G.T @ λ), rel=1e-9, abs=1e-9)


def test_rows_that_are_zero_everywhere_are_left_out_for_good():
    four_bar = mechanisms.four_bar()
    assert four_bar.used == four_bar.kept and len(four_bar.kept) == 2
    turned = replace(four_bar, gravity=(0.0, 0.0, -1.0))
    assert turned.used == turned.kept
