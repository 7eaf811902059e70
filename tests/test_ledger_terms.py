"""Every term of the ledger alone, against the same number put together from plant and law: a sum that closes hides none."""

from dataclasses import replace

import numpy as np
import pytest
from draws import on_floats
from ledger_cases import CRANE, FULL, LOADED, every, ledger_at_random, random_states, valves

from controllers.vdc import VDC
from controllers.vdc.required_motion import desired_motion
from plants import CoulombViscous, Oil
from plants.multibody import surroundings
from workbench import ClosedLoop, Noisy, Quantised, Sampled, Saturated
from workbench.verification.ledger import balance as ledger

PLANT = every(
    valves(replace(LOADED, oil=Oil(β=1.2e9)), lag="second", dead_band=0.3, u_max=6.0),
    friction=CoulombViscous(3100.0, 2500.0),
)
LAW = VDC(
    model=valves(CRANE, dead_band=0.1),
    λ=(7.0,),
    k_x=(5e-3, 4e-3),
    βk_f=(90.0, 70.0),
    derivative="desired",
)
LIMIT = 4.5  # V, the controller's own
SEEN = Quantised(Noisy(LAW, σ=3e4, signals=("p",)), 2e-3, signals=("q",))
LOOP = ClosedLoop(PLANT, Sampled(Saturated(SEEN, -LIMIT, LIMIT), 1e-3))


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    """No compiler for a few states."""
    monkeypatch.setattr("workbench.numerics.c_code.library", lambda source: None)
    monkeypatch.setattr(ledger, "_functions", {})


def through(c, volts, D):
    """u_f of a static valve without end stops at a voltage: opening beyond the overlap, times the side's denominator."""
    o = np.sign(volts) * max(abs(volts) - c.valve.dead_band, 0.0)
    return o * (D[0] if o > 0 else D[1])


def at_work(parts, volts, x, xd):
    """`Work` of every cylinder."""
    each = zip(PLANT.cylinders, parts.p, parts.spool, volts, x, xd)
    return [
        c.at_work(PLANT.oil, p, s, u, at, v, PLANT.p_s, PLANT.p_r) for c, p, s, u, at, v in each
    ]


def rungs(x, w, live):
    """Per actuator: Δf, Δẋ, k_x, and the flows u_f on the way from what is required to what goes through the valve, by name."""
    given = dict(zip(live, w))
    full = [given.get(s.name, LOOP.defaults().get(s.name, 0.0)) for s in LOOP.inputs]
    xp, z, y, r, u = LOOP.parts(0.0, list(x), full)
    n, m = PLANT.n, len(LAW.references)
    parts = PLANT.split(xp)
    qdd = on_floats(PLANT, lambda plant, s, v: plant.rhs(0.0, s, v), xp, u)[n : 2 * n].tolist()
    τ = LAW.read([*parts.q, *parts.qd, *[0.0] * 2 * n], r[:m]).τ
    exact = [*parts.q, *parts.qd, *(p for pair in parts.p for p in pair)]
    machine = PLANT.mechanism
    around = surroundings.given(machine, PLANT.given(u))
    need = LAW.required(parts.q, parts.qd, τ, machine, around)
    own = LAW.required(parts.q, parts.qd, τ)
    none = [[] for _ in range(n)]
    rate = LAW.force_rate(parts.q, parts.qd, qdd, τ, none, none)
    pos, xd, _ = PLANT.cylinder_motion(parts.q, parts.qd)
    flows = at_work(parts, u[:n], pos, xd)
    told = LAW.sought([], exact, r[:m], f_pr_rate=rate).u
    formed, seen = LAW.sought([], exact, r[:m]).u, SEEN.command(0.0, z, y, r)
    found = []
    for i, (c, pair) in enumerate(zip(PLANT.cylinders, parts.p)):
        f_fr = LAW.model.cylinders[i].friction.force(need.xd_r[i], [])
        f_f = c.friction.force(xd[i], [])
        f_pr, f_p = own.f_c[i] + f_fr, c.A_a * pair[0] - c.A_b * pair[1]
        k_x, k_f = LAW.k_x[i], LAW.βk_f[i] / LAW.model.oil.β
        Δf, Δx = f_pr - f_p, need.xd_r[i] - xd[i]
        g = c.gains(PLANT.oil, pos[i], *pair)
        D = c.valve.denominators(*g, *pair, PLANT.p_s, PLANT.p_r)
        u_fr = (
            rate[i] / PLANT.oil.β + c.drift(PLANT.oil, pos[i], xd[i], *pair) + k_x * Δx + k_f * Δf
        )
        flow = {
            "required": u_fr,
            "told": through(c, told[i], D),
            "formed": through(c, formed[i], D),
            "seen": through(c, seen[i], D),
            "limited": through(c, np.clip(seen[i], -LIMIT, LIMIT), D),
            "held": through(c, u[i], D),
            "stopped": through(c, np.clip(u[i], -c.valve.u_max, c.valve.u_max), D),
            "true": g[0] * flows[i][2] - g[1] * flows[i][3],
        }
        force = {"friction": -Δx * (f_fr - f_f), "model": Δx * (need.f_c[i] - own.f_c[i])}
        found.append((Δf / k_x, flow, force))
    return found


STEPS = {
    "parameters": (("required", "told"),),
    "derivative": (("told", "formed"),),
    "measurement": (("formed", "seen"),),
    "saturation": (("seen", "limited"), ("held", "stopped")),
    "hold": (("limited", "held"),),
    "valve": (("stopped", "true"),),
}


def test_every_term_alone_where_everything_is_wrong_at_once():
    t, x, w, live = random_states(LOOP, (), 12)
    b = ledger.LedgerFunction(LOOP, live)(LOOP, t, x, w)
    largest = dict.fromkeys((*STEPS, "friction", "model"), 0.0)
    for k in range(len(t)):
        for (weight, flow, force), label in zip(rungs(x[k], w[k], live), PLANT.labels):
            structure = next(s for s, c in b.entries if c == f"actuator {label}")
            size = abs(weight) * sum(map(abs, flow.values())) + sum(map(abs, force.values()))
            expected = {
                name: weight * sum(flow[a] - flow[c] for a, c in pairs)
                for name, pairs in STEPS.items()
            } | force
            for name, value in expected.items():
                term = b.perturbations[structure, f"actuator {label}", name][k]
                assert term == pytest.approx(value, rel=1e-9, abs=1e-11 * size), (name, label, k)
                largest[name] = max(largest[name], abs(value) / size)
            assert (
                abs(b.perturbations[structure, f"actuator {label}", "valve inverse"][k])
                < 1e-11 * size
            )
    assert min(largest.values()) > 1e-5, largest  # each of them was there to be seen


def test_margins_beside_the_verdict_are_those_of_the_machine():
    """Room at both ends of every stroke, lever arms, denominators, voltages, pump flow; and each as a share, 1 at ease."""
    t, x, w, live = random_states(LOOP, (), 12, seed=5)
    b = ledger.LedgerFunction(LOOP, live)(LOOP, t, x, w)
    found = {name: np.zeros(len(t)) for name in b.quantities}
    for k in range(len(t)):
        full = [dict(zip(live, w[k])).get(s.name, LOOP.defaults().get(s.name)) for s in LOOP.inputs]
        xp, _, _, _, u = LOOP.parts(0.0, list(x[k]), full)
        parts = PLANT.split(xp)
        pos, xd, lever = PLANT.cylinder_motion(parts.q, parts.qd)
        flows = at_work(parts, u[: PLANT.n], pos, xd)
        found["pump flow"][k] = sum(flow[4] for flow in flows)
        for i, (c, label, pair) in enumerate(zip(PLANT.cylinders, PLANT.labels, parts.p)):
            gains = c.gains(PLANT.oil, pos[i], *pair)
            D = c.valve.denominators(*gains, *pair, PLANT.p_s, PLANT.p_r)
            own = {"x": pos[i], "room": c.stroke - pos[i], "ẋ": xd[i], "lever": lever[i]}
            own |= {"command": u[i], "D₊": D[0], "D₋": D[1]}
            for name, value in own.items():
                found[f"{name} {label}"][k] = value
    checked = [name for name in found if found[name].any()]
    assert len(checked) == 1 + 7 * len(PLANT.labels)
    for name in checked:
        assert b.quantities[name] == pytest.approx(found[name], rel=1e-9), name
    shown = LAW.certificate(PLANT).monitors(b)
    assert shown["pump flow"] == pytest.approx(1 - found["pump flow"] / PLANT.Q_max)
    for c, label in zip(PLANT.cylinders, PLANT.labels):
        room = np.minimum(found[f"x {label}"], c.stroke - found[f"x {label}"])
        assert shown[f"piston {label} inside stroke"] == pytest.approx(room / (c.stroke / 2))
        volts = np.abs(b.quantities[f"inverse {label}"])
        most = c.valve.u_max
        assert shown[f"valve {label} within ±{most:g} V"] == pytest.approx(1 - volts / most)
        arm = np.abs(found[f"lever {label}"])
        assert shown[f"lever arm {label}"] == pytest.approx(arm / arm.max())


# ---- the desired acceleration in every space ------------------------------------------------------------------------
@pytest.mark.parametrize("space", ["joint", "piston", "cartesian"])
def test_the_desired_motion_is_that_of_the_joints_on_the_path(space):
    """Joints on a parabola; coordinates of the space and their rates by differences of order four lead back to it."""
    law = VDC(model=FULL, space=space, derivative="desired")
    q, v, a = (
        np.array(FULL.initial()[:3]),
        np.array([0.31, -0.23, 0.17]),
        np.array([-0.7, 0.9, 0.4]),
    )
    at = lambda s: np.array(FULL.task(space, list(q + v * s + a * s * s / 2)), float)
    h = 1e-3
    first = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)
    second = (16 * (at(h) + at(-h)) - (at(2 * h) + at(-2 * h)) - 30 * at(0.0)) / (12 * h * h)
    found = desired_motion(
        law.model, law.space, list(q), [list(at(0.0)), list(first), list(second), [0.0] * 3]
    )
    np.testing.assert_allclose(np.array(found, float), [v, a], rtol=1e-6)


@pytest.mark.parametrize("space", ["piston", "cartesian"])
def test_the_identity_holds_in_every_space_with_the_desired_derivative(space):
    law = VDC(model=FULL, space=space, derivative="desired", λ=(8.0, 7.0, 6.0))
    b = ledger_at_random(ClosedLoop(FULL, Sampled(law, 1e-3)), n=8)
    assert np.abs(b.residual()).max() < 1e-12
    # Off the path the desired acceleration is not the true one, and its term says so.
    assert np.abs(b.perturbation()["derivative"]).max() > 1.0
