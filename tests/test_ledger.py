"""The dissipation ledger: an identity for any loop, state and input; a planted fault is refused where it is."""

from dataclasses import replace

import numpy as np
import pytest
from ledger_cases import (
    BASE,
    CASES,
    CRANE,
    LOADED,
    PATH,
    REAL,
    RUBBED,
    continuous,
    every,
    random_states,
    sampled,
    valves,
)
from ledger_cases import ledger_at_random as at_random
from oracles import paper_crane

from controllers.vdc import VDC, bodies
from controllers.vdc import ledger as vdc_ledger
from plants import CoulombViscous
from plants.components.spatial import cross, minus, scale, turn
from plants.multibody import required as mechanics
from workbench import ClosedLoop, Delayed, Sampled, Scenario, simulate
from workbench.contract.parameters import bind, leaves
from workbench.numerics import c_code
from workbench.verification import claims as C
from workbench.verification.ledger import balance as ledger
from workbench.verification.ledger.balance import LedgerFunction
from workbench.verification.ledger.claims import check_identity, check_power_flows
from workbench.verification.run import Run, run

pytestmark = pytest.mark.usefixtures("plain_code")

TOLERANCE = C.Identity().tolerance
LADDER = ("valve inverse", "parameters", "derivative", "measurement", "hold", "saturation", "valve")


@pytest.fixture
def interpreted(monkeypatch):
    """No compiler for ledgers that are asked for a few states only; no ledger from before or for after."""
    monkeypatch.setattr(c_code, "library", lambda source: None)
    monkeypatch.setattr(ledger, "_functions", {})


# ---- the identity ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", CASES)
def test_the_identity_holds_for_any_loop_state_and_input(interpreted, name):
    loop, disturbances = CASES[name]
    b = at_random(loop, disturbances)
    assert np.isfinite(b.vdot).all() and (np.abs(b.total_rate) > 1e-3 * b.scale.sum(axis=1)).any()
    assert np.abs(b.residual()).max() <= TOLERANCE
    size = b.cut_scale()
    inner = [cut for cut, sides in b.sides().items() if len(sides) > 1]
    assert len(inner) == len(b.sides()) - 2
    for cut in inner:
        assert (np.abs(b.cuts()[cut]) <= TOLERANCE * size[cut]).all(), cut
    assert (b.total > 0).all() and (b.v >= 0).all() and (b.dissipation >= 0).all()


@pytest.mark.parametrize("offset", [{}, {"q_1": 0.03, "dq_2": -0.2}])
@pytest.mark.parametrize(
    "name",
    [
        "ideal valve, continuous law",
        "second-order valve",
        "LuGre friction",
        "fractional delay",
        "filters, noise, quantiser",
    ],
)
def test_the_identity_holds_along_runs_from_perfect_and_imperfect_starts(interpreted, name, offset):
    loop, _ = CASES[name]
    b = run(loop, Scenario(reference=PATH, duration=0.4, offset=offset), compiled=False).balance
    assert np.abs(b.residual()).max() <= TOLERANCE


def test_v_is_what_94_to_98_say(interpreted):
    """½ ΔVᵀM_AΔV with 6×6 matrices, Δf²/(2βk_x), ½σ_0(ẑ − z)², at floats."""
    loop = sampled(replace(RUBBED, payload=LOADED.payload))
    plant, law = loop.plant, loop.controller.inner
    t, x, w, live = random_states(loop, (), 5)
    b = LedgerFunction(loop, live)(loop, t, x, w)
    for k in range(5):
        seen = law.read(loop.out(0.0, x[k])[:8], w[k])
        q, qd, p, τ = seen.q, seen.qd, seen.p, seen.τ
        rates, accelerations = law.required_motion(q, qd, *τ[:3])
        shape = paper_crane.geometry(plant.structures, q)
        still = paper_crane.based(plant)
        V, V_r = (
            paper_crane.sweep(plant.structures, shape, still, qd, *more).V
            for more in ((), (rates, accelerations))
        )
        ẑ, z = (
            x[k][[i for i, s in enumerate(loop.states) if s.name.endswith("_observed")]],
            plant.split(x[k]).rub,
        )
        f_pr = law.required_forces(q, qd, τ, law.observed(ẑ))
        at = {("ground", "ground"): 0.0}
        for j, s in enumerate(plant.structures):
            frames = [*s.revolute.bodies, *([("payload", plant.payload)] if j == 1 else [])]
            for frame, body in frames:
                f = frame if frame != "payload" else "E1"
                e = np.ravel(minus(V_r[j][f], V[j][f]))
                whose = frame if frame == "payload" else s.name
                at[whose, frame] = e @ body.matrix() @ e / 2
        for i, (s, c) in enumerate(zip(plant.structures, plant.cylinders)):
            at[s.name, f"actuator {i + 1}"] = (f_pr[i] - c.force(*p[i])) ** 2 / (
                2 * plant.oil.β * law.k_x[0]
            ) + c.friction.σ_0 * (ẑ[i] - z[i][0]) ** 2 / 2
        np.testing.assert_allclose(b.v[k], [at[entry] for entry in b.entries], rtol=1e-9, atol=1e-9)


def test_v̇_is_the_derivative_of_v_along_the_run(interpreted):
    """∫v̇ dt by Simpson's rule against Δv, and its order: both come from the same states, but v̇ never from v."""
    gaps = []
    for h in (2e-4, 1e-4):
        loop = continuous(every(CRANE, friction=CoulombViscous(900.0, 2800.0, width=0.2)), κ=8.0)
        scenario = Scenario(
            reference=PATH, duration=0.1, max_step=h, offset={"q_1": 0.02, "dq_2": 0.1}
        )
        b = run(loop, scenario, compiled=False).balance
        between = h / 3 * (b.total_rate[:-2:2] + 4 * b.total_rate[1:-1:2] + b.total_rate[2::2])
        gaps.append(np.abs(np.cumsum(between) - (b.total[2::2] - b.total[0])).max() / b.total.max())
    assert gaps[0] < 1e-5 and gaps[0] / gaps[1] > 3, (
        gaps
    )  # second order: commands have kinks where they pass zero


@pytest.mark.parametrize(
    "name",
    [
        "second-order valve",
        "filters, noise, quantiser",
        "saturation at 0.5 V",
        "dirty derivative",
        "air and stiffness the model lacks",
        "fractional delay",
    ],
)
def test_the_named_parts_sum_to_what_the_valve_lacks(interpreted, name):
    """Σ parts · k_x/Δf = u_fr − u_f with u_f formed from the valve's flows, at floats."""
    loop, _ = CASES[name]
    plant, law = loop.plant, loop.controller
    while law.inner is not None:
        law = law.inner
    t, x, w, live = random_states(loop, (), 20)
    b = LedgerFunction(loop, live)(loop, t, x, w)
    defaults = [loop.defaults().get(s.name, 0.0) for s in loop.inputs]
    for k in range(20):
        given = dict(zip(live, w[k]))
        full = [given.get(s.name, d) for s, d in zip(loop.inputs, defaults)]
        xp, _, _, _, u = loop.parts(0.0, list(x[k]), full)
        parts = plant.split(xp)
        pos, xd, _ = plant.cylinder_motion(parts.q, parts.qd)
        for i, (c, label) in enumerate(zip(plant.cylinders, plant.labels)):
            own = c.at_work(
                plant.oil, parts.p[i], parts.spool[i], u[i], pos[i], xd[i], plant.p_s, plant.p_r
            )
            g = c.gains(plant.oil, pos[i], *parts.p[i])
            lack = b.quantities[f"u_fr {label}"][k] - (g[0] * own[2] - g[1] * own[3])
            found = sum(
                v[k]
                for (_, entry, part), v in b.perturbations.items()
                if entry == f"actuator {label}" and part in LADDER
            )
            assert found * law.k_x[0] / b.quantities[f"Δf {label}"][k] == pytest.approx(
                lack, rel=1e-9, abs=1e-9
            )


def test_perfect_knowledge_leaves_no_part(interpreted):
    """Ideal valve, true model, continuous law: every part of u_fr − u_f vanishes, friction only takes power."""
    b = at_random(continuous(valves(CRANE, u_max=1e9)))
    for part in (*LADDER, "model", "base B_c1", "tip"):
        assert np.abs(b.perturbation()[part]).max() <= 1e-12 * b.scale.sum(axis=1).max(), part
    assert (b.perturbation()["friction"] <= 0).all() and b.perturbation()["friction"].min() < -1.0


@pytest.mark.parametrize(
    "name, parts",
    [
        ("second-order valve", {"valve"}),
        ("saturation at 0.5 V", {"saturation"}),
        ("dead band the model lacks", {"parameters"}),
        ("leakage the model lacks", {"parameters"}),
        ("payload the model lacks", {"model"}),
        ("derivative along the desired motion", {"derivative"}),
        ("no derivative", {"derivative"}),
        ("1 kHz hold", set()),
    ],
)
def test_a_cause_is_called_by_its_name(interpreted, name, parts):
    """What is wrong with the loop shows under its name, what is right does not; random commands show as hold."""
    b = at_random(*CASES[name])
    size = b.scale.sum(axis=1).max()
    found = {part for part, v in b.perturbation().items() if np.abs(v).max() > 1e-9 * size}
    # ḟ_pr is formed along the model's motion: not exact where the model is not true.
    derivative = {"derivative"} if "payload" in name or "leakage" in name else set()
    assert (
        parts | {"hold", "friction"}
        <= found
        <= parts | {"hold", "friction", "saturation"} | derivative
    )


def test_a_base_the_law_takes_to_be_at_rest_feeds_power_in(interpreted):
    b = at_random(*CASES["moving base"])
    assert b.sides()["base B_c1"] == [("ground", "ground")]
    assert np.abs(b.perturbation()["base B_c1"]).max() > 1e3
    still = [name for name in BASE if name.startswith("g_")]
    assert not at_random(CASES["moving base"][0], still).perturbation()["base B_c1"].any()


def test_both_ends_of_every_sample_are_looked_at(interpreted):
    """Just after a sample the hold has done nothing yet; just before the next it has done all."""
    r = run(
        sampled(CRANE), Scenario(reference=PATH, duration=0.3, offset={"q_1": 0.01}), compiled=False
    )
    b = r.balance
    assert len(b.t) == 2 * len(r.log.time) - 1
    hold = np.abs(b.perturbation()["hold"])
    assert hold[::2].max() < 1e-9 < 1e-2 < hold[1::2].max()


def test_before_a_sample_a_fraction_of_a_delay_has_passed(interpreted):
    """The command applied just before sample k+1 is the one that was released in between, not the one before that."""
    loop = ClosedLoop(CRANE, Delayed(Sampled(VDC(model=CRANE), 1e-3), 0.4e-3))
    r = run(loop, Scenario(reference=PATH, duration=0.1, offset={"q_1": 0.01}), compiled=False)
    t, x, w = r.instants
    names = [s.name for s in loop.states]
    held, applied = x[:, names.index("u_1_held")], x[:, names.index("u_1_applied")]
    np.testing.assert_array_equal(applied[3::2], held[2:-1:2])  # just before: this sample's command
    np.testing.assert_array_equal(applied[2::2], held[:-2:2])  # just after: the last one's


def test_a_log_that_skips_samples_shows_states_that_were_there(interpreted):
    """With bristles v depends on the observer's memory: stale memory makes v a hundred times larger."""
    scenario = Scenario(reference=PATH, duration=0.6)
    loop = sampled(RUBBED)
    fine = run(loop, scenario, compiled=False)
    rough = Run(loop, scenario, simulate(loop, replace(scenario, log_period=10e-3), compiled=False))
    v = dict(zip(np.round(fine.log.time, 9), fine.storage[1][::2]))
    assert rough.storage[1] == pytest.approx(
        [v[t] for t in np.round(rough.storage[0], 9)], rel=1e-9, abs=1e-15
    )


# ---- planted faults --------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def logged():
    """A loaded crane off its path, with its log."""
    scenario = Scenario(reference=PATH, duration=0.2, offset={"q_1": 0.02})
    return run(sampled(replace(REAL, payload=LOADED.payload)), scenario, compiled=False)


def answers(logged):
    """(identity, power flows) with the ledger as the code now is."""
    again = Run(logged.loop, logged.scenario, logged.log)
    return check_identity(C.Identity(), again), check_power_flows(C.PowerFlows(), again)


def rows_changed(monkeypatch, change, part="bodies"):
    """Every entry of the ledger's bodies (or actuators) passes through `change(entry) → entry`."""
    before = getattr(vdc_ledger.MachineLedger, part)

    def after(self, *given):
        rows = before(self, *given)
        return (
            [change(e) for e in rows]
            if part == "bodies"
            else ([change(e) for e in rows[0]], rows[1])
        )

    monkeypatch.setattr(vdc_ledger.MachineLedger, part, after)


def test_the_sound_ledger_passes(interpreted, logged):
    identity, flows = answers(logged)
    assert (
        identity.holds
        and flows.holds
        and identity.data["residual"] < 1e-13
        and flows.data["share"] < 1e-13
    )


def test_coriolis_terms_that_are_not_skew(interpreted, logged, monkeypatch):
    right = mechanics.net_wrench

    def wrong(body, motion, wanted, j, gravity):
        f, m = right(body, motion, wanted, j, gravity)
        arm = turn(motion.R[j], body.com)
        turning = cross(wanted.Z[j][1], cross(motion.Z[j][1], arm))
        return minus((f, m), (scale(2.0 * body.mass, turning), [0.0] * 3))

    monkeypatch.setattr(mechanics, "net_wrench", wrong)
    identity, flows = answers(logged)
    assert identity.holds is False
    assert identity.worst.split("terms, ")[1].split(",")[0].split(".")[1] in ("B0", "B1", "payload")
    assert flows.holds is False  # nor are the forces of the true motion those of the drives


def test_forces_that_are_not_what_the_bodies_ask(interpreted, logged, monkeypatch):
    """As (68) with its y-force left out: a joint that nothing drives has to bear a moment."""
    right = bodies.shared
    monkeypatch.setattr(bodies, "shared", lambda *given: [1.001 * f for f in right(*given)])
    identity, flows = answers(logged)
    assert flows.holds is False and flows.data["cut"] in ("joint lift.B1", "joint tilt.B1")
    assert "B1" in flows.worst


def test_a_wrong_lever_arm(interpreted, logged, monkeypatch):
    right = mechanics._lever
    monkeypatch.setattr(mechanics, "_lever", lambda *given: [1.001 * v for v in right(*given)])
    identity, flows = answers(logged)
    assert flows.holds is False and flows.data["cut"].split(".")[1] in ("B1", "B4")


def test_gravity_of_one_body_left_out_of_what_is_required(interpreted, logged, monkeypatch):
    asked, right = bodies.required, mechanics.net_wrench
    case = CRANE.mechanism.number("lift.B3")

    def light(body, motion, wanted, j, gravity):
        return right(body, motion, wanted, j, [0.0] * 3 if j == case else gravity)

    def wrong(*given):
        with monkeypatch.context() as inside:
            inside.setattr(mechanics, "net_wrench", light)
            return asked(*given)

    monkeypatch.setattr(bodies, "required", wrong)
    identity, _ = answers(logged)
    assert identity.holds is False and "lift.B3" in identity.worst


def test_v_with_the_controllers_masses(interpreted, logged, monkeypatch):
    heavy = lambda e: (
        replace(e, storage=1.1 * e.storage) if (e.subsystem, e.name) == ("tilt", "B1") else e
    )
    rows_changed(monkeypatch, heavy)
    identity, flows = answers(logged)
    assert identity.holds is False and "tilt.B1" in identity.worst and flows.holds


def test_a_payload_whose_flow_is_left_out(interpreted, logged, monkeypatch):
    def without(e):
        return (
            replace(e, flows={k: v for k, v in e.flows.items() if k != "joint payload"})
            if e.name == "payload"
            else e
        )

    rows_changed(monkeypatch, without)
    identity, flows = answers(logged)
    assert identity.holds is False and "payload" in identity.worst
    assert (
        flows.holds is False and flows.data["cut"] == "joint payload" and "tilt.B1" in flows.worst
    )


def test_damping_that_is_not_what_is_fed_back(interpreted, logged, monkeypatch):
    rows_changed(monkeypatch, lambda e: replace(e, dissipation=1.01 * e.dissipation))
    identity, flows = answers(logged)
    assert identity.holds is False and identity.data["residual"] > 1e-4 and flows.holds


def test_gains_applied_that_are_not_those_stated(interpreted, logged, monkeypatch):
    """The ledger's law and the law that runs differ: that is a cause of its own, though the model is the plant."""
    right = VDC.sought
    monkeypatch.setattr(
        VDC, "sought", lambda self, *a, **k: right(bind(self, {"k_x.0": 2 * self.k_x[0]}), *a, **k)
    )
    b = Run(logged.loop, logged.scenario, logged.log).balance
    assert (
        np.abs(b.residual()).max() < TOLERANCE
        and np.abs(b.perturbation()["parameters"]).max() > 1.0
    )


def test_friction_in_the_ledger_that_is_not_the_machines(interpreted, logged, monkeypatch):
    rougher = lambda plant: bind(
        plant, {e.path: 1.02 * e.value for e in leaves(plant) if e.path.endswith("friction.F_c")}
    )
    monkeypatch.setattr(
        VDC, "certificate", lambda self, plant: vdc_ledger.MachineLedger(self, rougher(plant))
    )
    _, flows = answers(logged)
    assert flows.holds is False and flows.data["cut"].startswith("joint ")


def test_a_spool_nobody_mentions(interpreted, logged, monkeypatch):
    silent = lambda e: replace(
        e, perturbations={k: v for k, v in e.perturbations.items() if k != "valve"}
    )
    rows_changed(monkeypatch, silent, "_drives")
    identity, _ = answers(logged)
    assert identity.holds is False and "actuator" in identity.worst


def test_a_rod_force_of_the_wrong_sign(interpreted, logged, monkeypatch):
    """A cut that does not cancel names both sides."""
    turned = lambda e: replace(
        e, flows={k: -v if k == "joint lift.B4" else v for k, v in e.flows.items()}
    )
    rows_changed(monkeypatch, turned, "_drives")
    _, flows = answers(logged)
    assert flows.holds is False and flows.data["cut"] == "joint lift.B4"
    assert "lift.B3" in flows.worst and "lift.actuator 1" in flows.worst


def test_a_rod_force_that_is_lost_while_nothing_moves(interpreted, monkeypatch):
    """At rest nothing flows through any cut: states around the run's tell that one side is missing."""
    still = run(sampled(REAL), Scenario(duration=0.01), compiled=False)
    assert all(np.abs(values).max() < 1e-9 for values in still.balance.flows.values())
    lost = lambda e: replace(
        e, flows={k: 0.0 if k == "joint lift.B4" else v for k, v in e.flows.items()}
    )
    assert answers(still)[1].holds is True
    rows_changed(monkeypatch, lost, "_drives")
    assert answers(still)[1].holds is False


def test_numbers_that_are_none_do_not_pass(logged):
    """A NaN in the ledger is a failure, at identity and cuts alike."""
    again = Run(logged.loop, logged.scenario, logged.log)
    b = again.balance
    key = next(k for k in b.flows if k[2] == "joint lift.B4")
    broken = replace(
        b,
        vdot=np.where(np.arange(len(b.t))[:, None] == 7, np.nan, b.vdot),
        flows={**b.flows, key: np.where(np.arange(len(b.t)) == 7, np.nan, b.flows[key])},
    )
    again.__dict__["balance"] = broken
    identity, flows = check_identity(C.Identity(), again), check_power_flows(C.PowerFlows(), again)
    assert identity.holds is False and flows.holds is False and flows.data["cut"] == "joint lift.B4"


def test_a_body_is_not_hidden_by_its_scale(interpreted, logged):
    """The scale is made of the entry's own terms: no more than a few of them on average."""
    b = logged.balance
    for i, entry in enumerate(b.entries):
        moved = max(
            (np.abs(v).max() for (s, c, _), v in b.flows.items() if (s, c) == entry), default=0.0
        )
        assert np.median(b.scale[:, i]) <= 1e3 * max(moved, np.abs(b.vdot[:, i]).max()), entry
