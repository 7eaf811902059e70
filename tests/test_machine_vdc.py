"""Virtual decomposition control of any mechanism: on the crane written as one it is VDC, number by number."""

import numpy as np
import pytest
from test_servo_cylinder import CRANES, lagging, random_state, translated, with_servos

from controllers.vdc import VDC
from workbench import ClosedLoop, Sampled, Scenario, Waypoints, simulate
from workbench.contract.system import innermost, names
from workbench.verification.claims import Hypotheses
from workbench.verification.ledger.balance import balance
from workbench.verification.run import run

pytestmark = pytest.mark.usefixtures("plain_code")

SOUND = {"shipped": lambda crane: crane, "lagging": lagging}


def pair(which, change="shipped", **gains):
    """(VDC on the crane, VDC on the mechanism) with the same gains."""
    crane = SOUND[change](CRANES[which])
    mechanism = with_servos(crane)
    return VDC(crane, **gains), VDC(mechanism, **gains)


def measured(law, plant, x):
    at = dict(zip(names(plant.outputs), plant.out(0.0, x)))
    return [at[s.name] for s in law.measured]


def drawn(own, other, rng, space="joint"):
    """The same random state, memory and reference for both: (z, y, r) of each."""
    x = random_state(own.model, rng)
    n = own.model.n
    q = x[:n]
    y = measured(own, own.model, x)
    state = translated(own.model, other.model, x)
    y_other = measured(other, other.model, state)
    shift = np.subtract(
        other.model.task(space, state[:n]), own.model.task(space, q)
    )  # frames differ in where an angle is zero, and in where a length begins
    goal = np.array(own.model.task(space, q), float) + 0.01 * rng.normal(size=n)
    rates = [list(map(float, 0.2 * rng.normal(size=n))) for _ in range(3)]
    r = [list(map(float, goal)), *rates]
    r_other = [list(map(float, goal + shift)), *rates]
    z = [float(v) for v in 1e-6 * rng.normal(size=len(own.states))]
    flat = lambda rows: [v for row in rows for v in row]
    return (z, y, flat(r)), (z, y_other, flat(r_other)), x, state


@pytest.mark.parametrize("derivative", ["model", "desired", "dirty", "difference", "zero"])
@pytest.mark.parametrize("which", CRANES)
def test_on_the_crane_it_is_vdc(which, derivative):
    """Commands, required forces and memory agree to 1e-9 of the valve's range, with observers, lags and leaks."""
    own, other = pair(which, "lagging", derivative=derivative, λ=(7.0,), κ=9.0, k_x=(4e-3,))
    rng = np.random.default_rng(3)
    for _ in range(3):
        (z, y, r), (z_o, y_o, r_o), _, _ = drawn(own, other, rng)
        a, b = own.sought(z, y, r), other.sought(z_o, y_o, r_o)
        assert b.f_pr == pytest.approx(a.f_pr, rel=1e-11)
        assert b.u == pytest.approx(a.u, rel=1e-9, abs=1e-9)
        assert other.rhs(0.0, z_o, y_o, r_o) == pytest.approx(own.rhs(0.0, z, y, r), rel=1e-9)
        after, after_o = own.step_at(2e-3, 0.0, z, y, r), other.step_at(2e-3, 0.0, z_o, y_o, r_o)
        assert after_o[0] == pytest.approx(after[0], rel=1e-9)
        assert after_o[1] == pytest.approx(after[1], rel=1e-9, abs=1e-9)
        assert other.start(0.0, z_o, y_o, r_o) == pytest.approx(own.start(0.0, z, y, r), rel=1e-9)


@pytest.mark.parametrize("which", CRANES)
def test_lengths_of_the_drives_are_a_space_of_their_own(which):
    own, other = pair(which, space="piston", λ=(7.0,))
    rng = np.random.default_rng(4)
    (z, y, r), (z_o, y_o, r_o), _, _ = drawn(own, other, rng, "piston")
    assert other.command(0.0, z_o, y_o, r_o) == pytest.approx(own.command(0.0, z, y, r), rel=1e-9)


# ---- the ledger -----------------------------------------------------------------------------------------------------
def driven_loop(law, T_s=1e-3, duration=1.5):
    """(loop, scenario): a path in joint space, begun away from it."""
    q = law.model.initial()[: law.model.n]
    goal = tuple(float(a + b) for a, b in zip(q, (0.12, -0.15, 0.08)))
    path = Waypoints("joint", ("start", goal), 1.2)
    first = names(law.model.states)[0]
    return ClosedLoop(law.model, Sampled(law, T_s=T_s)), Scenario(
        duration, path, offset={first: 0.01}
    )


def account(law):
    loop, scenario = driven_loop(law)
    log = simulate(loop, scenario)
    assert log.status.completed
    return balance(loop, scenario, log)


@pytest.mark.parametrize("which", CRANES)
@pytest.mark.long
def test_its_ledger_is_that_of_the_crane(which):
    """v, dissipation and every named perturbation, though one counts bodies and the other frames of structures."""
    own, other = (account(law) for law in pair(which))  # two runs: each integrates its own states
    assert other.total == pytest.approx(own.total, rel=1e-7, abs=1e-9 * own.total.max())
    D, D_other = (b.dissipation.sum(axis=1) for b in (own, other))
    assert D_other == pytest.approx(D, rel=1e-7, abs=1e-9 * D.max())
    theirs = own.perturbation()
    largest = max(np.abs(values).max() for values in theirs.values())
    for name, values in other.perturbation().items():
        assert values == pytest.approx(theirs[name], rel=1e-6, abs=1e-8 * largest), name


@pytest.mark.parametrize("which", CRANES)
def test_the_identity_closes_and_every_cut_cancels(which):
    b = account(pair(which, "lagging")[1])
    assert np.abs(b.residual()).max() < 1e-12
    sizes = b.cut_scale()
    for cut, values in b.cuts().items():
        assert np.abs(values).max() <= 1e-12 * sizes[cut].max(), cut


# ---- what it says of a run ------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def runs():
    """(run of the crane under VDC, run of the mechanism), three joints, lags and leaks."""
    found = []
    for law in pair("three joints", "lagging"):
        loop, scenario = driven_loop(law, duration=1.0)
        found.append(run(loop, scenario))
    return found


def certificates(runs):
    return [innermost(r.loop.controller).certificate(r.loop.plant) for r in runs]


def test_rates_of_decay_are_those_of_the_crane(runs):
    """Bodies and drives alone; and along the poses of the run, where K_A and M_A of all bodies are seen through J_A."""
    own, other = (c.rates(r) for c, r in zip(certificates(runs), runs))
    assert other[0] == pytest.approx(own[0], rel=1e-6)
    assert other[1] == pytest.approx(own[1], rel=1e-4)
    assert other[1] >= other[0] > 0


def test_margins_along_the_run_are_those_of_the_crane(runs):
    """Strokes, valves, lever arms and pump flow, 1 at ease and negative where not met."""
    own, other = (c.monitors(r.balance) for c, r in zip(certificates(runs), runs))
    for label in runs[0].loop.plant.labels:
        for mine, theirs in (
            (f"piston c{label} inside stroke", f"piston {label} inside stroke"),
            (f"valve c{label} within ±10 V", f"valve {label} within ±10 V"),
        ):
            assert other[mine] == pytest.approx(own[theirs], abs=1e-5)
    for label in ("1", "2"):
        assert other[f"lever arm c{label}"] == pytest.approx(own[f"lever arm {label}"], abs=1e-5)
    assert other["pump flow"] == pytest.approx(own["pump flow"], abs=1e-5)


def test_it_takes_for_granted_what_vdc_takes_for_granted(runs):
    """Every hypothesis about drives has the margin that VDC gives it, under the actuator's name."""
    judged = []
    for certificate, r in zip(certificates(runs), runs):
        judged.append({a.text: a for a in certificate.hypotheses(r, Hypotheses())})
    own, other = judged
    for label in runs[0].loop.plant.labels:
        for text in (
            "friction of cylinder {} (LuGre) passive with its own storage",
            "piston {} inside its stroke",
            "valve {} invertible within ±10 V",
        ):
            mine, theirs = other[text.format(f"c{label}")], own[text.format(label)]
            assert mine.holds is theirs.holds
            if theirs.margin is not None:
                assert mine.margin == pytest.approx(theirs.margin, rel=1e-3, abs=1e-6)
    shared = ("pump flow ≥ Σ Q", "reference in C² with bounded jerk", "no delay")
    assert all(other[text].holds is own[text].holds is True for text in shared)
    assert other["the controller's model is the plant"].holds is True
    assert other["continuous law, no hold"].holds is False
