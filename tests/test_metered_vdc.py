"""Virtual decomposition control behind metering valves: the valves' inverse, the ledger, the loop, each from both sides."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from draws import apart

from controllers import VDC
from controllers.vdc import bodies
from controllers.vdc.drives.metered_section import MeteredPart
from plants import MeteredArms, MeteredCrane, MeteredTwin, machine
from plants.metered.arm import MotorArm
from plants.valve_circuits import Λ, Circuit, Openings, Pump, Section, operating
from plants.valve_circuits.inverse import opening
from workbench import ClosedLoop, InputError, Scenario, Waypoints, changed, load, simulate, verify
from workbench.cases.file import loads
from workbench.contract.wrappers import Delayed, Filtered, Sampled, Saturated
from workbench.verification import claims as C
from workbench.verification import run_claims
from workbench.verification.hypotheses import check_hypotheses
from workbench.verification.ledger.balance import LedgerFunction, ledger_function
from workbench.verification.ledger.claims import check_identity
from workbench.verification.run import Run

EXAMPLE = Path(__file__).parents[1] / "examples" / "hiab-imv-vdc.yaml"
HIAB = machine("hiab-xs031").plant
LOADED = changed(HIAB, {"payload.mass": 40.0, "all.friction.b": 2100.0})
VALVES = {"P_hM": 231e5, "P_rM": 217e5, "u_b": 0.03, "τ": 8e-3}
CRANE = MeteredCrane(LOADED.locked(extension=0.5), **VALVES)
WHOLE = MeteredCrane(changed(LOADED, {"lift.friction": {"law": "LuGre"}}), **VALVES)
ARM = MeteredArms()
START = CRANE.initial()[:2]
SCENARIO = Scenario(
    reference=Waypoints("joint", ("start", (START[0] + 0.15, START[1] - 0.2), "start"), leg=1.5),
    duration=3.5,
)


def loop_of(plant=CRANE, law=None, T_s=1e-3):
    law = law or VDC(plant)
    return ClosedLoop(plant, Sampled(law, T_s) if T_s else law)


def run_of(plant=CRANE, law=None, T_s=1e-3, scenario=SCENARIO):
    loop = loop_of(plant, law, T_s)
    return Run(loop, scenario, simulate(loop, scenario))


# ---- the valves' inverse ------------------------------------------------------------------------------------------------
def sections(rng, n):
    """Random sections on a pump that keeps P: (row fully open, P, u, v and f by compiled roots, (circuit, openings, β, f̄))."""
    for _ in range(n):
        s = Section(
            "1", *rng.uniform(2e-3, 9e-3, 2), *rng.uniform(8e6, 3e7, 2), *rng.uniform(1e-8, 8e-8, 5)
        )
        P, β, u = (
            rng.uniform(1e6, 2.6e7),
            10 ** rng.uniform(4, 6),
            float(rng.choice([-1, 1]) * rng.uniform(0.05, 1.0)),
        )
        F = s.A_h * P if u > 0 else s.A_r * P
        held = np.sign(u) * F * rng.uniform(-1.5, 0.9)
        circuit, o = Circuit((s,), Pump(10.0, P)), Openings.command(u)
        (v,) = Λ(circuit, o, 0.0, [β], [held])
        yield circuit.rows(Openings(1, 1, 1, 1))[0], P, u, v, held + β * v, (circuit, o, β, held)


def test_inverse_opens_what_moves_so():
    """Wherever an orifice meters, on every branch: series, out side or in side at its relief, in side on its suction check."""
    rng, seen = np.random.default_rng(1), {}
    for row, P, u, v, f, (circuit, o, _, _) in sections(rng, 250):
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
            assert [float(found.fed), float(found.drained)] == pytest.approx(
                [float(np.mean(p)) for p in pair], rel=1e-6
            )
        assert found.push > 0 or abs(v) < 1e-6
        weak = opening(row, np.sign(v) or 1.0, (np.sign(v) or 1.0) * 1e9, P)
        assert weak.push < 0 and abs(weak.u) == 10.0
    assert met > 20


# ---- the ledger ---------------------------------------------------------------------------------------------------------
def ledger(loop, n=10, seed=3, stretch=3e-3, made=ledger_function):
    """At random states and references, far from every path; stretch: of the oil, m."""
    rng, p = np.random.default_rng(seed), loop.plant
    x, names = np.tile(np.array(loop.initial(), float), (n, 1)), tuple(s.name for s in loop.inputs)
    for i, s in enumerate(loop.states):
        sizes = {"m": 1e-5, "N": 2e3, "rad": 0.1, "rad/s": 0.2, "m/s": 0.1, "1": 0.1}
        x[:, i] += sizes.get(s.unit, 0.0) * rng.normal(size=n)
        x[:, i] *= rng.uniform(0.2, 1.0, n) if s.name == "P" else 1.0
    q = x[:, [[s.name for s in loop.states].index(name) for name in p.joint_names]]
    rods = [
        i
        for i, s in enumerate(loop.states)
        if s.name.startswith(("rod_", "x_")) and s.name not in p.joint_names
    ]
    length = lambda q: (
        [p.arms[0].length(q[0])] if p.arms else p.crane.cylinder_motion(list(q), [0.0] * p.n)[0]
    )
    x[:, rods] = np.array([length(row) for row in q], float) + stretch * rng.normal(size=(n, p.n))
    w = rng.normal(size=(n, len(names))) * [200.0 if s.unit == "N" else 0.1 for s in loop.inputs]
    w[:, [names.index(f"{name}_d") for name in p.joint_names]] += q
    return made(loop, names)(loop, np.zeros(n), x, w)


def balanced(b):
    """Entries balance, inner cuts cancel, nothing dissipates less than nothing; inner and outer cuts."""
    sizes, sides = b.cut_scale(), b.sides()
    inner = {cut for cut, ends in sides.items() if len(ends) > 1}
    assert np.abs(b.residual()).max() < 1e-12 and (b.dissipation > -1e-12 * b.weight).all()
    # Wrenches at the cuts of closed loops come from two equations each, and lose some digits there.
    assert max(np.abs(b.cuts()[cut] / sizes[cut]).max() for cut in inner) < 1e-11
    return inner, set(sides) - inner


def felt(b):
    return {name for name, d in b.perturbation().items() if np.abs(d).max() > 1e-9}


def test_identity_and_cuts_at_random_states():
    known = {
        "all.friction.b": 1500.0,
        "payload.mass": 25.0,
        "crane.oil.β": 1.2e9,
        "τ": 6e-3,
        "lift.L1": 0.385,
        "lift.rod": 0.041,
    }
    b = ledger(loop_of(WHOLE, VDC(changed(WHOLE, known)), T_s=None))
    inner, outer = balanced(b)
    assert {"joint lift.B1", "joint lift.B4", "loop lift.T_c", "joint payload"} <= inner
    assert outer == {"tip"}
    assert {"model", "parameters", "friction", "valve inverse", "saturation", "tip"} <= felt(b)
    assert np.abs(b.perturbation()["hold"]).max() == 0.0


def test_of_an_arm_too():
    """Turned by a cylinder, or by a motor, whose "rod" is an angle."""
    turned = MeteredArms(arms=(MotorArm(i=90.0, M=1500.0),))
    for plant, changes in ((ARM, {"r_bx": -1.15, "K": 4.1e7, "B": 1.9e6}), (turned, {"i": 88.0})):
        arm = replace(plant.arms[0], M=1700.0, J=4200.0, **changes)
        law = VDC(replace(plant, arms=(arm,)), K_I=300.0, λ=(6.0,))
        b = ledger(loop_of(plant, law, T_s=None))
        pins = set() if plant is turned else {"pins 1"}
        assert balanced(b) == ({"joint 1", *pins}, set())
        assert {"model", "parameters", "valve inverse", "load"} <= felt(b)
        assert law.states[0].unit == {s.name: s.unit for s in plant.monitors}["f_1"]


def test_through_delay_filter_and_limits():
    law = Delayed(
        Sampled(Saturated(Filtered(VDC(ARM), 90.0, signals=("dθ",)), -0.2, 0.2), 2e-3),
        1.3e-3,
    )
    b = ledger(ClosedLoop(ARM, law), stretch=3e-4)
    balanced(b)
    assert {"measurement", "saturation", "hold", "pump"} <= felt(b)


def test_on_the_true_plant_nothing_is_left_of_the_valves_and_the_damping_dissipates():
    """The paper's balance with the oil's damping beside: v̇ = −D, friction apart, wherever the valves can do what is asked."""
    wide = changed(
        replace(CRANE, P_hM=2e9, P_rM=2e9),
        {"pump.P_M": 900e5, **{f"all.valve.{c}": 1e-5 for c in ("c_p1", "c_n1", "c_p2", "c_n2")}},
    )
    b = ledger(
        loop_of(wide, VDC(wide, Kk_f=(50.0, 70.0), k_m=(0.9, 1.2)), T_s=None),
        seed=4,
        stretch=1e-4,
    )
    strong = np.all(
        [
            (b.quantities[f"push {k}"] > 0) & (np.abs(b.quantities[f"inverse {k}"]) <= 1)
            for k in wide.labels
        ],
        axis=0,
    )
    assert strong.sum() >= 4
    gone = {
        name: np.abs(d[strong]).max()
        for name, d in b.perturbation().items()
        if name not in ("friction", "tip")
    }
    assert max(gone.values()) < 1e-9 * b.scale.max()
    assert (b.perturbation()["friction"] <= 0).all() and (b.dissipation > 0).any()


def test_rate_is_what_the_ledger_bears():
    """v̇ ≤ −c v + d with the certificate's c, at random states of a law whose bodies are the true ones; and no rod bears more."""
    plant = changed(CRANE, {"τ": 30e-3})
    law = VDC(plant, Kk_f=(90.0, 40.0), k_m=(0.7, 1.3), κ=35.0)
    c = law.certificate(plant)._drive_rate()
    assert (
        c == pytest.approx(min(2 * g * (1 - 0.03 * g / 4) for g in (90.0, 40.0)), rel=1e-12)
        and c < 2 * law.κ
    )
    b = ledger(loop_of(plant, law, T_s=None), seed=5)
    assert (b.total_rate <= -c * b.total + b.drive(c) + 1e-12 * b.scale.sum(axis=1)).all() and (
        b.total_rate < 0
    ).any()


def required(law, z, y, r):
    """(line at which all rods move as required, their speeds, the openings that do it)."""
    m, ẑ, found = law.read(y, r), law.observed(z), law.sought(z, y, r)
    lengths = [found.need.lines.s[i] for i in range(len(law.parts))]
    f_K = [part.felt(p, s) for part, p, s in zip(law.parts, m.p, lengths)]
    xd, xd_r = found.need.xd, found.need.xd_r
    line = law.asked(law.machine, f_K, xd, xd_r, ẑ, found.ẑ_rate)
    each = list(zip(law.parts, f_K, xd, xd_r, ẑ, found.ẑ_rate))
    speeds = [part.asks(part.drive, *own)[0] for part, *own in each]
    openings = [
        part.opened(part.drive, speed, v, f, line) for (part, f, v, *_), speed in zip(each, speeds)
    ]
    return line, speeds, openings


def test_two_arms_share_the_pump_as_they_need_it():
    """The law's pressure is the pump's own where every rod moves as required, short of its relief too."""
    second = replace(
        ARM.arms[0], name="2", θ_0=-0.3, M=900.0, section=Section("2", A_h=0.017, A_r=0.011)
    )
    plant, rng, short = replace(ARM, arms=(ARM.arms[0], second)), np.random.default_rng(8), 0
    law, x = VDC(plant, k_m=(0.8, 1.1)), plant.rest((-0.5, -0.3))
    for _ in range(40):
        r = [-0.5, -0.3, *rng.uniform(-0.4, 0.4, 2), *[0.0] * 4]
        at = [v + s * rng.normal() for v, s in zip(x, (0.01, 0.03, 1e-4) * 2)]
        at[1], at[4] = at[1] + r[2], at[4] + r[3]
        y_all = dict(zip((s.name for s in plant.outputs), plant.out(0.0, at)))
        y = [y_all[s.name] for s in law.measured]
        z = [v * (1 + 1e-3 * rng.normal()) for v in law.start(0.0, [0.0, 0.0], y, r)]
        u = law.command(0.0, z, y, r)
        line, speeds, openings = required(law, z, y, r)
        margins = [float(margin) for o in openings for margin in (o.push, o.fed)]
        if max(map(abs, u)) > 1.0 or min(margins) < 0:
            continue  # not as required, or a suction check gives what the pump does not
        seen = dict(zip((s.name for s in plant.monitors), plant.monitor(0.0, at, [*u, 0.0, 0.0])))
        assert [float(seen["v_1"]), float(seen["v_2"])] == pytest.approx(
            [float(v) for v in speeds], abs=1e-9
        )
        assert float(line.p_s) == pytest.approx(float(seen["P"]), rel=1e-7)
        short += float(line.p_s) < 0.99 * plant.pump.P_M
    assert short >= 3


@pytest.mark.parametrize("what", ["velocity gain", "dropped rate"])
def test_a_term_of_the_wrong_sign_or_left_out_shows_at_its_rod(monkeypatch, what):
    honest = MeteredPart.wanted

    def wrong(self, v, v_r, f_K, f_Kr, flow, K):
        if what == "dropped rate":
            return honest(self, v, v_r, f_K, f_Kr, 0.0 * flow, K)
        return honest(self, v, 2 * v - v_r, f_K, f_Kr, flow, K)

    monkeypatch.setattr(MeteredPart, "wanted", wrong)
    b = ledger(loop_of(ARM, T_s=None), made=LedgerFunction)
    worst = dict(zip(b.entries, np.abs(b.residual()).max(axis=0)))
    assert worst["1", "actuator 1"] > 1e-6 and worst["1", "1"] < 1e-12


def test_a_feedback_of_the_wrong_sign_dissipates_less_than_nothing(monkeypatch):
    honest = bodies.isotropic
    monkeypatch.setattr(bodies, "isotropic", lambda K_I, *at: honest(-K_I, *at))
    b = ledger(loop_of(ARM, VDC(ARM, κ=0.0, K_I=3e5), T_s=None), made=LedgerFunction)
    given = dict(zip(b.entries, b.dissipation.max(axis=0)))
    assert np.abs(b.residual()).max() < 1e-12 and given["1", "1"] < 0 < given["1", "actuator 1"]


def test_an_inverse_with_the_wrong_areas_is_seen_at_the_valves(monkeypatch):
    wrong = lambda row, v, f, P: opening([row[0], 2.0 * row[1], *row[2:]], v, f, P)
    monkeypatch.setattr("controllers.vdc.drives.metered_section.opening", wrong)
    wide = replace(ARM, pump=replace(ARM.pump, Q=1.0))
    b = ledger(loop_of(wide, T_s=None), stretch=1e-4, made=LedgerFunction)
    assert (
        np.abs(b.residual()).max() < 1e-12
        and np.abs(b.perturbation()["valve inverse"]).min() > 1e-6
    )


# ---- the loop -----------------------------------------------------------------------------------------------------------
ASKED = (
    C.PracticalStability(bound=0.02, runs=1, settle=1.0),
    run_claims.Tracking(error=1e-3, settle=0.5),
)


def test_it_follows_and_says_why():
    run = run_of()
    assert run.tool_error.max() < 1e-4
    found = check_hypotheses(C.Hypotheses(), run)
    assert {a["text"] for a in found.data["assumptions"] if a["holds"] is not True} == {
        "continuous law, no hold"
    }
    verdicts = verify(
        run.loop,
        SCENARIO,
        (*ASKED, C.Identity(), C.PowerFlows(), run_claims.EnergyBalance(share=1e-6)),
    )
    assert [v.holds for v in verdicts] == [True] * 5


@pytest.mark.parametrize(
    "plant, law, T_s, cause, unmet",
    [
        (
            CRANE,
            VDC(changed(CRANE, {"payload.mass": 0.0})),
            1e-3,
            "model",
            "model is the plant",
        ),
        (CRANE, None, 30e-3, "saturation", "within ±1"),
        (
            changed(CRANE, {"pump.P_M": 120e5}),
            None,
            1e-3,
            "valve inverse",
            "pump's pressure moves 1",
        ),
        (
            changed(CRANE, {"pump.Q": 8e-3 / 60}),
            None,
            1e-3,
            "valve inverse",
            "pump's pressure moves 2",
        ),
        (
            changed(CRANE, {"all.valve.c_p1": 4e-9, "all.valve.c_n2": 4e-9}),
            None,
            1e-3,
            "valve inverse",
            "within ±1",
        ),
    ],
    ids=["payload", "sample time", "weak pump", "small pump", "narrow valves"],
)
def test_planted_faults_are_refused(plant, law, T_s, cause, unmet):
    run = run_of(plant, law, T_s)
    assert [v.holds for v in verify(run.loop, SCENARIO, ASKED)] == [False, False]
    d = {
        name: np.abs(values).max()
        for name, values in run.balance.finite().perturbation().items()
        if name != "hold"
    }
    assert max(d, key=d.get) == cause
    assert unmet in check_hypotheses(C.Hypotheses(), run).worst


def test_a_rod_damped_more_than_its_gain_bears_is_refused():
    """B of the machine five times the model's: B k_f = 8. The balance closes, and the damping gives instead of taking."""
    run = run_of(
        replace(CRANE, τ=40e-3),
        VDC(CRANE, Kk_f=(200.0,)),
        scenario=replace(SCENARIO, duration=0.3),
    )
    assert "B k_f ≤ 4" in {
        a["text"][:9]
        for a in check_hypotheses(C.Hypotheses(), run).data["assumptions"]
        if a["holds"] is False
    }
    found = check_identity(C.Identity(), run)
    assert (
        found.data["residual"] < 1e-12
        and found.holds is False
        and "dissipates less than nothing" in found.worst
    )


def test_oil_that_yields_costs_little_but_has_no_ledger():
    """The law of the quasistatic arm on its twin with compressible chambers, which it does not know."""
    loop = ClosedLoop(MeteredTwin(of=ARM), Sampled(VDC(ARM), 2e-3))
    log = simulate(
        loop,
        Scenario(
            reference=Waypoints("output", ("start", (-0.35,), "start"), leg=1.5), duration=3.5
        ),
    )
    e = np.abs(log.array("θ_1_d") - log.array("θ_1"))[log.time > 0.5]
    assert log.status.completed and 1e-5 < e.max() < 2e-3
    with pytest.raises(InputError, match="knows no CompressibleRod"):
        verify(loop, Scenario(duration=0.1), [C.Identity()])


@pytest.mark.long
def test_example_holds():
    case = load(EXAMPLE)
    asked = [
        c
        for c in case.claims
        if isinstance(
            c,
            (
                run_claims.Tracking,
                run_claims.Saturation,
                run_claims.Settled,
                run_claims.EnergyBalance,
            ),
        )
    ]
    found = verify(case.loop, case.scenario, asked)
    assert [v.holds for v in found] == [True] * 4 and {v.key: v.margin for v in found}[
        "tracking"
    ] > 0.9e-3


# ---- what it refuses ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "law, plant, words",
    [
        ("VDC", "type: MeteredTwin", "no law for the drive of actuator 1, a CompressibleRod"),
        ("VDC", "machine: ieha-figures", "PID"),
        ("MeteredVDC", "type: MeteredArms", "write 'law: VDC', and k_m in place of k_x"),
    ],
)
def test_wrong_plants_get_one_clear_message(law, plant, words):
    with pytest.raises(InputError) as refusal:
        loads(f"plant:\n  {plant}\ncontroller: {law}\n", "pair.yaml")
    assert words in str(refusal.value) and "pair.yaml" in str(refusal.value)


@pytest.mark.parametrize(
    "options, words",
    [
        ({"Kk_f": (500.0,)}, "below 4/τ = 500"),
        ({"k_m": (1.0,) * 3}, "expected 1 or 2"),
        ({"λ": (8.0,) * 3}, "λ: expected 1 or 2"),
        ({"κ": 0.0}, "positive definite"),
        ({"Kk_f": (0.0,)}, "greater than zero"),
    ],
)
def test_gains_out_of_range_are_refused(options, words):
    for plant in (
        CRANE,
        replace(ARM, arms=tuple(replace(ARM.arms[0], name=k, B=5e7 * CRANE.τ) for k in "ab")),
    ):
        with pytest.raises(ValueError, match=words):
            VDC(plant, **options)
    with pytest.raises(ValueError, match="space"):
        VDC(ARM, space="piston")


def test_same_text_on_floats_and_expressions():
    law, rng = (
        VDC(WHOLE, space="cartesian", Kk_f=(50.0, 60.0, 70.0)),
        np.random.default_rng(6),
    )
    x = WHOLE.initial()
    y = (
        [v + 1e-2 * rng.normal() for v in WHOLE.out(0.0, x)[: 2 * WHOLE.n]]
        + [5e4 * rng.normal() for _ in range(3)]
        + [1.5e7]
    )
    r = [*WHOLE.task("cartesian", x[:3]), *rng.normal(size=9)]
    z = [1e-5, *(2e4 * rng.normal() for _ in range(3))]
    for call in (law.command, law.rhs, law.start, law.monitor):
        assert (
            apart(
                law, lambda c, t, *v, name=call.__name__: getattr(c, name)(t[0], *v), [0.2], z, y, r
            )
            < 1e-12
        )
    assert (
        apart(
            law,
            lambda c, t, *v: sum(map(list, c.step_at(t[1], t[0], *v)), []),
            [0.2, 2e-3],
            z,
            y,
            r,
        )
        < 1e-12
    )


def test_the_law_of_earlier_programs_says_what_it_is_now():
    import controllers

    with pytest.raises(AttributeError, match="VDC serves metered arms and cranes"):
        controllers.MeteredVDC  # noqa: B018 — asking for it is what is tested
