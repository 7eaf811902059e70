"""Virtual decomposition control behind metering valves: the valves' inverse, the ledger, the loop, each from both sides."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from draws import apart

from controllers import VDC, MeteredVDC
from plants import MeteredArms, MeteredCrane, machine
from plants.valve_circuits import Λ, Circuit, Openings, Pump, Section, operating
from plants.valve_circuits.inverse import opening
from workbench import (
    ClosedLoop,
    Delayed,
    Filtered,
    InputError,
    Sampled,
    Saturated,
    Scenario,
    Waypoints,
    changed,
    load,
    simulate,
    verify,
)
from workbench.file import loads
from workbench.verification import claims as C
from workbench.verification.hypotheses import check_hypotheses, path_rate
from workbench.verification.ledger import LedgerFunction
from workbench.verification.ledger_claims import check_identity
from workbench.verification.run import Run

EXAMPLE = Path(__file__).parents[1] / "examples" / "hiab-imv-vdc.yaml"
HIAB = machine("hiab-xs031").plant
LOADED = changed(HIAB, {"payload.mass": 40.0, "all.friction.b": 2100.0})
VALVES = {"P_hM": 231e5, "P_rM": 217e5, "u_b": 0.03, "τ": 8e-3}
CRANE = MeteredCrane(LOADED.locked(extension=0.5), **VALVES)
WHOLE = MeteredCrane(changed(LOADED, {"lift.friction": {"law": "LuGre"}}), **VALVES)
START = CRANE.initial()[:2]
SCENARIO = Scenario(reference=Waypoints("joint", ("start", (START[0] + 0.15, START[1] - 0.2), "start"), leg=1.5), duration=3.5)


def loop_of(plant=CRANE, law=None, T_s=1e-3):
    law = law or MeteredVDC(plant)
    return ClosedLoop(plant, Sampled(law, T_s) if T_s else law)


def run_of(plant=CRANE, law=None, T_s=1e-3, scenario=SCENARIO):
    loop = loop_of(plant, law, T_s)
    return Run(loop, scenario, simulate(loop, scenario))


def told(plant=CRANE, **changes):
    """The law with another belief about the plant."""
    return MeteredVDC(changed(plant, changes))


# ---- the valves' inverse ------------------------------------------------------------------------------------------------
def sections(rng, n):
    """Random sections on a pump that keeps P: (row fully open, P, u, v and f by compiled roots, (circuit, openings, β, f̄))."""
    for _ in range(n):
        s = Section("1", *rng.uniform(2e-3, 9e-3, 2), *rng.uniform(8e6, 3e7, 2), *rng.uniform(1e-8, 8e-8, 5))
        P, β, u = rng.uniform(1e6, 2.6e7), 10 ** rng.uniform(4, 6), float(rng.choice([-1, 1]) * rng.uniform(0.05, 1.0))
        F = s.A_h * P if u > 0 else s.A_r * P
        held = np.sign(u) * F * rng.uniform(-1.5, 0.9)
        circuit, o = Circuit((s,), Pump(10.0, P)), Openings.command(u)
        (v,) = Λ(circuit, o, 0.0, [β], [held])
        yield circuit.rows(Openings(1, 1, 1, 1))[0], P, u, v, held + β * v, (circuit, o, β, held)


def test_inverse_opens_what_moves_so():
    """Wherever an orifice meters, on every branch: series, out side or in side at its relief, in side on its suction check."""
    rng, seen = np.random.default_rng(1), {}
    for row, P, u, v, f, (circuit, o, _, _) in sections(rng, 400):
        if abs(v) < 1e-6:
            continue
        state = operating(circuit, o, 0.0, [v]).sections[0]
        name = state.segment
        if name in ("-F_rM", "F_hM"):  # a relief alone: any opening moves so
            continue
        seen[name] = seen.get(name, 0) + 1
        assert float(opening(row, v, f, P).u) == pytest.approx(u, rel=1e-6), name
    assert len(seen) >= 6 and min(sorted(seen.values())[-4:]) > 10, seen


def test_margins_are_the_chambers_pressures():
    """Of sections that both orifices move; and a pump too weak has nothing left, for which no opening is enough."""
    rng, met = np.random.default_rng(2), 0
    for row, P, _, v, f, (circuit, o, _, _) in sections(rng, 60):
        found = opening(row, v, f, P)
        at = operating(circuit, o, 0.0, [v]).sections[0]
        if at.segment in ("+1a", "-1a", "+2a", "-2a"):
            met += 1
            pair = (at.P_h, at.P_r) if v > 0 else (at.P_r, at.P_h)
            assert [float(found.fed), float(found.drained)] == pytest.approx([float(np.mean(p)) for p in pair], rel=1e-6)
        assert found.push > 0 or abs(v) < 1e-6
        weak = opening(row, np.sign(v) or 1.0, (np.sign(v) or 1.0) * 1e9, P)
        assert weak.push < 0 and abs(weak.u) == 10.0
    assert met > 20


# ---- the ledger ---------------------------------------------------------------------------------------------------------
def ledger(loop, n=10, seed=3, stretch=3e-3):
    """At random states and references, far from every path; stretch: of the oil, m."""
    rng, p = np.random.default_rng(seed), loop.plant
    x = np.tile(np.array(loop.initial(), float), (n, 1))
    k = 3 * p.n
    x[:, : p.n] += 0.1 * rng.normal(size=(n, p.n))
    x[:, p.n: 2 * p.n] = 0.2 * rng.normal(size=(n, p.n))
    at = np.array([p.crane.cylinder_motion(list(row[: p.n]), [0.0] * p.n)[0] for row in x], float)
    x[:, 2 * p.n: k] = at + stretch * rng.normal(size=(n, p.n))
    x[:, k] *= rng.uniform(0.2, 1.0, n)
    x[:, k + 1:] += rng.normal(size=(n, x.shape[1] - k - 1)) * [
        1e-5 if s.unit == "m" else 2e3 if s.unit == "N" else 0.1 for s in loop.states[k + 1:]]
    names = tuple(s.name for s in loop.inputs)
    w = rng.normal(size=(n, len(names))) * [200.0 if s.unit == "N" else 0.1 for s in loop.inputs]
    w[:, [names.index(f"{q}_d") for q in p.joint_names]] += x[:, : p.n]
    return LedgerFunction(loop, names)(loop, np.zeros(n), x, w)


def test_identity_and_cuts_at_random_states():
    known = {"all.friction.b": 1500.0, "payload.mass": 25.0, "crane.oil.β": 1.2e9, "τ": 6e-3, "lift.rod": 0.041}
    b = ledger(loop_of(WHOLE, told(WHOLE, **known), T_s=None))
    assert np.abs(b.residual()).max() < 1e-12
    sizes, sides = b.cut_scale(), b.sides()
    inner = {cut: total for cut, total in b.cuts().items() if len(sides[cut]) == 2}
    assert {"lift rod", "tilt rod", "tilt slide"} <= set(inner) and set(sides) - set(inner) == {"base B_c1", "tip D"}
    assert max(np.abs(total / sizes[cut]).max() for cut, total in inner.items()) < 1e-13
    assert (b.dissipation > -1e-12 * b.weight).all()
    felt = {name for name, d in b.perturbation().items() if np.abs(d).max() > 1e-9}
    assert {"model", "parameters", "friction", "valve inverse", "saturation", "tip D"} <= felt
    assert np.abs(b.perturbation()["hold"]).max() == 0.0


def test_on_the_true_plant_nothing_is_left_of_the_valves_and_the_damping_dissipates():
    """The paper's balance with the oil's damping beside: v̇ = −D, friction apart, wherever the valves can do what is asked."""
    plant = replace(CRANE, pump=replace(CRANE.pump, P_M=900e5), P_hM=2e9, P_rM=2e9)
    wide = changed(plant, {f"all.valve.{c}": 1e-5 for c in ("c_p1", "c_n1", "c_p2", "c_n2")})
    b = ledger(loop_of(wide, T_s=None), seed=4, stretch=1e-4)
    strong = (np.array([b.quantities[f"push {k}"] for k in wide.labels]) > 0).all(axis=0)
    assert strong.sum() >= 4
    gone = {name: np.abs(d[strong]).max() for name, d in b.perturbation().items() if name not in ("friction", "tip D", "base B_c1")}
    assert max(gone.values()) < 1e-9 * b.scale.max()
    assert (b.perturbation()["friction"] <= 0).all() and (b.dissipation > 0).any()


def test_identity_through_delay_filter_and_limits():
    law = Delayed(Sampled(Saturated(Filtered(MeteredVDC(CRANE), 90.0, signals=("f_K",)), -0.2, 0.2), 2e-3), 1.3e-3)
    loop = ClosedLoop(CRANE, law)
    run = Run(loop, SCENARIO, simulate(loop, SCENARIO))
    assert np.abs(run.balance.residual()).max() < 1e-12
    felt = {name: np.abs(d).max() for name, d in run.balance.perturbation().items()}
    assert min(felt["measurement"], felt["saturation"], felt["hold"]) > 1e-6


def test_rate_is_what_the_ledger_bears():
    """v̇ ≤ −c v + d with the certificate's c, at random states of a law whose bodies are the true ones."""
    plant = changed(CRANE, {"τ": 30e-3})
    law = MeteredVDC(plant, Kk_f=(90.0, 40.0), k_x=(0.7, 1.3), κ=35.0)
    run = run_of(plant, law)
    c, _ = path_rate(run)
    assert c == pytest.approx(min(70.0, *(2 * g * (1 - 0.03 * g / 4) for g in (90.0, 40.0))), rel=1e-6)
    b = ledger(loop_of(plant, law, T_s=None), seed=5)
    assert (b.total_rate <= -c * b.total + b.drive(c) + 1e-12 * b.scale.sum(axis=1)).all() and (b.total_rate < 0).any()


@pytest.mark.parametrize("what", ["velocity gain", "dropped rate"])
def test_a_term_of_the_wrong_sign_or_left_out_shows_at_its_rod(monkeypatch, what):
    honest = MeteredVDC.rods

    def wrong(self, xd, xd_r, f_K, f_Kr, rate, K, known):
        if what == "dropped rate":
            return honest(self, xd, xd_r, f_K, f_Kr, [0.0 * a for a in rate], K, known)
        return honest(self, xd, [2 * a - b for a, b in zip(xd, xd_r)], f_K, f_Kr, rate, K, known)

    monkeypatch.setattr(MeteredVDC, "rods", wrong)
    b = ledger(loop_of(T_s=None))
    worst = dict(zip(b.entries, np.abs(b.residual()).max(axis=0)))
    assert worst["lift", "rod 1"] > 1e-6 and worst["tilt", "rod 2"] > 1e-6
    assert max(size for (_, name), size in worst.items() if not name.startswith("rod")) < 1e-12


def test_a_feedback_of_the_wrong_sign_is_refused(monkeypatch):
    honest, flip = VDC.fed_back, lambda pair: tuple([-c for c in half] for half in pair)
    monkeypatch.setattr(VDC, "fed_back", lambda self, *a: [{k: flip(F) for k, F in row.items()} for row in honest(self, *a)])
    found = check_identity(C.Identity(), run_of(replace(CRANE, name="flipped")))
    assert found.holds is False and "dissipates less than nothing" in found.worst


# ---- the loop -----------------------------------------------------------------------------------------------------------
ASKED = (C.PracticalStability(bound=0.02, runs=1, settle=1.0), C.Tracking(error=1e-3, settle=0.5))


def test_it_follows_and_says_why():
    run = run_of()
    assert run.tool_error.max() < 1e-4
    found = check_hypotheses(C.Hypotheses(), run)
    assert {a["text"] for a in found.data["assumptions"] if a["holds"] is not True} == {"continuous law, no hold"}
    verdicts = verify(run.loop, SCENARIO, (*ASKED, C.Identity(), C.PowerFlows(), C.EnergyBalance(share=1e-6)))
    assert [v.holds for v in verdicts] == [True] * 5


@pytest.mark.parametrize("plant, law, T_s, cause, unmet", [
    (CRANE, told(**{"payload.mass": 0.0}), 1e-3, "model", "model is the plant"),
    (CRANE, None, 40e-3, "saturation", "within ±1"),
    (changed(CRANE, {"pump.P_M": 120e5}), None, 1e-3, "valve inverse", "pump's pressure moves rod 1"),
    (changed(CRANE, {"pump.Q": 8e-3 / 60}), None, 1e-3, "valve inverse", "pump's pressure moves rod 2"),
    (changed(CRANE, {"all.valve.c_p1": 4e-9, "all.valve.c_n2": 4e-9}), None, 1e-3, "valve inverse", "within ±1"),
], ids=["payload", "sample time", "weak pump", "small pump", "narrow valves"])
def test_planted_faults_are_refused(plant, law, T_s, cause, unmet):
    run = run_of(plant, law, T_s)
    assert [v.holds for v in verify(run.loop, SCENARIO, ASKED)] == [False, False]
    d = {name: np.abs(values).max() for name, values in run.balance.finite().perturbation().items() if name != "hold"}
    assert max(d, key=d.get) == cause
    assert unmet in check_hypotheses(C.Hypotheses(), run).worst


def test_an_inverse_with_the_wrong_areas_is_seen_at_the_valves(monkeypatch):
    from plants.valve_circuits import inverse

    honest = inverse.opening
    monkeypatch.setattr(inverse, "opening", lambda row, v, f, P: honest([row[0], 2.0 * row[1], *row[2:]], v, f, P))
    plant = replace(CRANE, name="areas")
    run = run_of(plant)
    assert np.abs(run.balance.residual()).max() < 1e-12
    largest = lambda r: np.abs(r.balance.perturbation()["valve inverse"]).max()
    monkeypatch.undo()
    right = run_of()
    assert largest(right) < 1e-9 < 1e-2 < largest(run) and run.tool_error.max() > 5 * right.tool_error.max()


def test_example_holds():
    case = load(EXAMPLE)
    asked = [c for c in case.claims if not isinstance(c, (C.SampleTimeLimit, C.DelayLimit, C.PracticalStability))]
    found = {v.key: v for v in verify(case.loop, case.scenario, asked)}
    assert {key for key, v in found.items() if v.counted and v.holds is not True} == set()
    assert found["tracking"].margin > 0.9e-3 and found["identity"].strength == "numerical"


# ---- what it refuses ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("law, plant, words", [
    ("VDC", "type: MeteredCrane\n  of: hiab-xs031", "MeteredVDC is its like"), ("VDC", "type: MeteredArms", "is no manipulator"),
    ("MeteredVDC", "machine: hiab-xs031", "choose VDC"), ("MeteredVDC", "type: MeteredArms", "choose PID"),
    ("MeteredVDC", "machine: ieha-control", "choose PID")])
def test_wrong_plants_get_one_clear_message(law, plant, words):
    with pytest.raises(InputError) as refusal:
        loads(f"plant:\n  {plant}\ncontroller: {law}\n", "pair.yaml")
    assert words in str(refusal.value) and "pair.yaml" in str(refusal.value)


@pytest.mark.parametrize("options, words", [
    ({"Kk_f": (500.0,)}, "below 4/τ = 500"), ({"k_x": (1.0,) * 3}, "expected 1 or 2"), ({"λ": (8.0,) * 3}, "λ: expected 1 or 2"),
    ({"κ": 0.0}, "positive definite"), ({"Kk_f": (0.0,)}, "greater than zero")])
def test_gains_out_of_range_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        MeteredVDC(CRANE, **options)


def test_python_gets_the_same_words():
    for law, plant in ((VDC, MeteredArms()), (VDC, CRANE), (MeteredVDC, HIAB), (MeteredVDC, MeteredArms())):
        with pytest.raises(InputError, match="is no"):
            law(plant)


def test_same_text_on_floats_and_expressions():
    law, rng = MeteredVDC(WHOLE, space="cartesian", Kk_f=(50.0, 60.0, 70.0)), np.random.default_rng(6)
    x = WHOLE.initial()
    y = [v + 1e-2 * rng.normal() for v in WHOLE.out(0.0, x)[: 2 * WHOLE.n]] + [5e4 * rng.normal() for _ in range(3)] + [1.5e7]
    r = [*WHOLE.task("cartesian", x[:3]), *rng.normal(size=6)]
    z = [1e-5, *(2e4 * rng.normal() for _ in range(3))]
    for call in (law.command, law.rhs, law.start, law.monitor):
        assert apart(law, lambda c, t, *v, name=call.__name__: getattr(c, name)(t[0], *v), [0.2], z, y, r) < 1e-12
    assert apart(law, lambda c, t, *v: sum(map(list, c.step_at(t[1], t[0], *v)), []), [0.2, 2e-3], z, y, r) < 1e-12
