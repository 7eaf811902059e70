"""Claims read off one run: each hypothesis of the theorem met and missed, (99), requirements on signals."""

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, final

import numpy as np
import pytest
from ledger_cases import (
    AIRY,
    CRANE,
    LOADED,
    LUGRE,
    PATH,
    REAL,
    START,
    STRIBECK,
    Reversed,
    continuous,
    every,
    heavier,
    sampled,
    valves,
)

from controllers.pid.law import PID
from controllers.vdc import VDC
from workbench import (
    ClosedLoop,
    Delayed,
    Filtered,
    Hold,
    Noisy,
    Quantised,
    Sampled,
    Saturated,
    Scenario,
    Sine,
    simulate,
)
from workbench.contract.errors import InputError
from workbench.run.log import Log, Status
from workbench.verification import claims as C
from workbench.verification import run_claims, verify
from workbench.verification.hypotheses import check_hypotheses
from workbench.verification.ledger import balance as ledger
from workbench.verification.ledger.claims import check_identity, check_inequality, check_power_flows
from workbench.verification.observed.chatter import range_used, smoothed, swinging
from workbench.verification.observed.energy_claims import check_energy, resting_on
from workbench.verification.observed.machine import check_machine_limits
from workbench.verification.observed.requirements import check_pressures, check_tracking
from workbench.verification.observed.settled import check_settled
from workbench.verification.observed.shares import check_saturation
from workbench.verification.run import Run, run
from workbench.verification.scales import power_floor
from workbench.verification.verdict import Verdict

pytestmark = pytest.mark.usefixtures("plain_code")

SHORT = Scenario(reference=PATH, duration=0.6)
KNOWN = VDC(model=CRANE)


def ran(loop, scenario=SHORT):
    return run(loop, scenario, compiled=False)


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    """No compiler for ledgers of a few hundred states."""
    monkeypatch.setattr("workbench.numerics.c_code.library", lambda source: None)
    monkeypatch.setattr(ledger, "_functions", {})


def missed(loop, scenario=SHORT, **claim):
    """Texts of the hypotheses that are not met."""
    verdict = check_hypotheses(C.Hypotheses(**claim), ran(loop, scenario))
    texts = {a["text"] for a in verdict.data["assumptions"] if a["holds"] is not True}
    assert verdict.data["met"] + len(texts) == verdict.data["of"] and verdict.holds is (not texts)
    assert all(text in verdict.worst for text in texts)
    return texts


@final
@dataclass(frozen=True)
class Rate:
    """Time derivative of a reference."""

    of: Any
    space = "output"

    def sample(self, t, order):
        return self.of.sample(t, order + 1)[1:]


# ---- hypotheses -----------------------------------------------------------------------------------------------
def test_all_hypotheses_are_met_by_the_theorems_own_loop_and_99_holds():
    r = ran(continuous(CRANE), replace(SHORT, offset={"q_1": 0.004}))
    verdict, inequality = check_hypotheses(C.Hypotheses(), r), check_inequality(C.Inequality(), r)
    assert verdict.holds is True and verdict.data["met"] == verdict.data["of"] >= 15
    assert inequality.holds is True and inequality.strength == "sampled"


SHAKEN = {
    "V_bx": Sine("output", (0.0,), (0.05,), 0.8),
    "A_bx": Rate(Sine("output", (0.0,), (0.05,), 0.8)),
}
EXACT, TRUE = "ḟ_pr exact along the true motion", "the controller's model is the plant"
PUMP, VALVES = "pump flow ≥ Σ Q", {f"valve {i} invertible within ±10 V" for i in (1, 2)}
WEAK = [f"valve {i} invertible within ±3 V" for i in (1, 2)]
SEEN, HELD, GAINS = (
    "true states measured",
    "continuous law, no hold",
    "K_A ≻ 0 for every body, and k_x, k_f > 0",
)
LEVERS = [f"lever arm |dx/dq| of cylinder {i} ≥ 0.3 m" for i in (1, 2)]
BRITTLE = replace(LUGRE, σ_1=6e5)
OFF, ABOVE = {"q_1": 0.02}, {"p_a1": 140e5, "p_b1": 140e5}
MISSED = {  # what is wrong → (loop, scenario, options, hypotheses missed, those that may be missed with them)
    "Stribeck friction": (
        continuous(every(CRANE, friction=STRIBECK)),
        SHORT,
        {},
        {f"friction of cylinder {i} (Stribeck) increasing" for i in (1, 2)},
        set(),
    ),
    "LuGre friction, too fast": (
        continuous(every(CRANE, friction=BRITTLE)),
        SHORT,
        {},
        {f"friction of cylinder {i} (LuGre) passive with its own storage" for i in (1, 2)},
        {EXACT},
    ),
    "short lever": (continuous(CRANE), SHORT, {"lever": 0.3}, {LEVERS[1]}, {LEVERS[0]}),
    "weak valves": (continuous(valves(CRANE, u_max=3.0)), SHORT, {}, {WEAK[0]}, {EXACT, WEAK[1]}),
    "limited commands": (
        ClosedLoop(CRANE, Saturated(KNOWN, -3.0, 3.0)),
        SHORT,
        {},
        {WEAK[0]},
        {EXACT, WEAK[1]},
    ),
    "a chamber above the supply": (
        continuous(CRANE),
        replace(SHORT, offset=ABOVE),
        {},
        {min(VALVES)},
        {EXACT, PUMP},
    ),
    "small pump": (continuous(replace(CRANE, Q_max=2e-4)), SHORT, {}, {PUMP}, set()),
    "air nobody told": (continuous(AIRY, KNOWN), SHORT, {}, {TRUE}, set()),
    "payload nobody told": (
        continuous(LOADED, KNOWN),
        SHORT,
        {},
        {GAINS, TRUE, EXACT},
        {PUMP, *VALVES},
    ),
    "desired acceleration": (
        continuous(CRANE, derivative="desired"),
        replace(SHORT, offset=OFF),
        {},
        {EXACT},
        {PUMP, *VALVES},
    ),
    "spool": (continuous(valves(CRANE, lag="first")), SHORT, {}, {"valves without lag"}, set()),
    "hold": (sampled(CRANE), SHORT, {}, {HELD}, set()),
    "delay": (
        ClosedLoop(CRANE, Delayed(Sampled(KNOWN, 1e-3), 2e-3)),
        SHORT,
        {},
        {HELD, "no delay"},
        set(),
    ),
    "noise": (ClosedLoop(CRANE, Noisy(KNOWN, σ=1e4, signals=("p",))), SHORT, {}, {SEEN}, set()),
    "encoder": (
        ClosedLoop(CRANE, Quantised(KNOWN, 1e-6, signals=("q",))),
        SHORT,
        {},
        {SEEN},
        set(),
    ),
    "filter": (ClosedLoop(CRANE, Filtered(KNOWN, 200.0, signals=("p",))), SHORT, {}, {SEEN}, set()),
    "moving base": (
        continuous(CRANE),
        replace(SHORT, disturbances=SHAKEN),
        {},
        {"base at rest, or its motion known"},
        {EXACT},
    ),
    "tip force": (
        continuous(CRANE),
        replace(SHORT, disturbances={"f_Dy": 300.0}),
        {},
        {"no unmodelled tip wrench"},
        {EXACT},
    ),
    "swapped ports": (
        ClosedLoop(CRANE, Reversed(KNOWN)),
        replace(SHORT, duration=0.02),
        {},
        {"nothing unknown between plant and law"},
        {EXACT, PUMP, *VALVES},
    ),
}


@pytest.mark.parametrize("what", MISSED)
def test_a_hypothesis_that_is_not_met_is_named_and_no_other(what):
    loop, scenario, options, least, more = MISSED[what]
    texts = missed(loop, scenario, **options)
    assert least <= texts <= least | more


def test_a_piston_beyond_its_end_is_seen():
    low, high = CRANE.joint_range()[0]
    start = (low + 0.01, START[1])
    texts = missed(continuous(CRANE), Scenario(start=start, duration=0.1, offset={"dq_1": -1.5}))
    assert "piston 1 inside its stroke" in texts or "piston 2 inside its stroke" in texts


def test_friction_is_judged_up_to_the_speed_that_is_required():
    """At rest far from the target: nothing moves yet, but −Δẋ(f_fr − f_f) reaches to the required speed."""
    brake = every(CRANE, friction=replace(STRIBECK, b=60000.0, v_s=0.01))
    here = Scenario(reference=Hold("joint", START), duration=2e-3)
    assert not missed(continuous(brake), here)
    assert {
        t for t in missed(continuous(brake), replace(here, offset={"q_1": 0.02})) if "Stribeck" in t
    }


# ---- (99) -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "loop, scenario, cause",
    [
        (sampled(CRANE), SHORT, "hold term"),
        (continuous(REAL), SHORT, "valve term"),
        (continuous(CRANE), replace(SHORT, disturbances={"f_Dy": 500.0}), "tip term"),
        (continuous(AIRY, KNOWN), SHORT, "parameters term"),
        (continuous(CRANE, VDC(model=heavier(CRANE, 1.02))), SHORT, "model term"),
        (continuous(CRANE, derivative="zero"), SHORT, "derivative term"),
        (
            continuous(every(CRANE, friction=STRIBECK)),
            replace(SHORT, offset={"q_1": 0.001}),
            "friction term",
        ),
    ],
)
def test_99_is_violated_with_its_cause(loop, scenario, cause):
    verdict = check_inequality(C.Inequality(), ran(loop, scenario))
    assert (
        verdict.holds is False
        and cause in verdict.worst
        and verdict.margin < 0 < verdict.data["share"] <= 1
    )


def test_power_enters_at_the_tip_and_leaves_no_cut_open():
    """An outer cut has one side; so has an inner one of which a side was forgotten, which is refused."""
    pushed = ran(continuous(CRANE), replace(SHORT, disturbances={"f_Dy": 500.0}))
    verdict = check_power_flows(C.PowerFlows(), pushed)
    assert (
        verdict.holds and verdict.data["cut"] != "tip" and len(pushed.balance.sides()["tip"]) == 1
    )
    one = next(key for key in pushed.balance.flows if key[2] == "joint lift.B4")
    del pushed.balance.flows[one]
    assert check_power_flows(C.PowerFlows(), pushed).holds is False


def test_99_is_a_norm_and_its_verdict_says_whether_it_is_met():
    """The sentence is the same whether it holds or not; below the machine's own floor it is neither."""
    still, off = (ran(continuous(CRANE), replace(SHORT, offset=o)) for o in ({}, {"q_1": 0.004}))
    spool = ran(continuous(REAL))
    found = [check_inequality(C.Inequality(), r) for r in (still, off, spool)]
    assert len({v.claim for v in found}) == 1 and "at every instant" in found[0].claim
    assert [v.holds for v in found] == [None, True, False]
    assert (
        np.abs(still.balance.total_rate).max()
        < power_floor(still)
        < np.abs(off.balance.total_rate).max()
    )
    assert "rounding" in found[0].worst and "holds" not in " ".join(
        v.claim + v.worst for v in found
    )


def test_a_run_that_overflows_is_judged_before_it_does():
    """Numbers that overflow say nothing; what came before them does, and what broke before them is still refused."""
    r = ran(continuous(CRANE), replace(SHORT, duration=0.05, offset={"q_1": 0.004}))
    b, late = r.balance, r.balance.t > 0.03
    blown = lambda values: np.where(
        late if values.ndim == 1 else late[:, None], 1e160 * (1 + values), values
    )
    status = Status(False, "diverged: q_1 is not finite at t = 0.05 s", 0.05, "q_1")
    gone = Run(r.loop, r.scenario, replace(r.log, status=status))
    gone.__dict__["balance"] = replace(
        b,
        vdot=blown(b.vdot),
        scale=blown(b.scale),
        flows={key: blown(v) for key, v in b.flows.items()},
    )
    flows, inequality = (
        check_power_flows(C.PowerFlows(), gone),
        check_inequality(C.Inequality(), gone),
    )
    assert flows.holds is True and "before the run diverged" in flows.worst
    assert inequality.holds is None and "until the run diverged" in inequality.worst
    key = next(key for key in b.flows if key[2] == "joint lift.B4")
    broken = {**gone.balance.flows, key: gone.balance.flows[key] + 1.0}
    gone.__dict__["balance"] = replace(gone.balance, flows=broken)
    assert check_power_flows(C.PowerFlows(), gone).holds is False
    nothing = replace(gone.balance, scale=np.full_like(b.scale, np.inf))
    gone.__dict__["balance"] = nothing
    assert check_power_flows(C.PowerFlows(), gone).holds is None
    assert check_inequality(C.Inequality(), gone).holds is None


def test_99_is_undecided_where_the_hold_cannot_be_seen():
    loop = sampled(CRANE)
    coarse = Run(loop, SHORT, simulate(loop, replace(SHORT, log_period=10e-3)))
    verdict = check_inequality(C.Inequality(), coarse)
    assert verdict.holds is None and "skips samples" in verdict.worst


def test_99_is_undecided_where_a_number_is_none():
    r = ran(continuous(CRANE), replace(SHORT, duration=0.05))
    b = r.balance
    key = next(iter(b.perturbations))
    broken = np.where(b.t > 0.03, np.nan, b.perturbations[key])
    r.__dict__["balance"] = replace(b, perturbations={**b.perturbations, key: broken})
    assert check_inequality(C.Inequality(), r).holds is None


def test_a_law_without_a_ledger_is_refused_in_words():
    with pytest.raises(InputError, match="no accompanying function"):
        verify(ClosedLoop(CRANE, Sampled(PID(model=CRANE), 1e-3)), SHORT, [C.Identity()])


# ---- requirements ---------------------------------------------------------------------------------------------------
def bent(r, **signals):
    """The run with some signals exchanged: name → function of (t, values)."""
    values = r.log.values.copy()
    names = [s.name for s in r.log.signals]
    for name, change in signals.items():
        values[:, names.index(name)] = change(r.log.time, values[:, names.index(name)])
    return Run(
        r.loop, r.scenario, Log(r.log.time, values, r.log.signals, r.log.provenance, r.log.status)
    )


def commanded(r, change, label=1):
    """The same change to a command under both its names."""
    names = {s.name for s in r.log.signals}
    return bent(r, **{n: change for n in (f"u_{label}", f"u_{label}_held") if n in names})


@pytest.fixture(scope="module")
def good():
    """Four seconds, the last two at rest."""
    return run(sampled(CRANE), Scenario(reference=PATH, duration=4.0), compiled=False)


def test_tracking_on_both_sides(good):
    settled = float(good.tool_error[good.log.time >= 1.0].max())
    assert 1e-6 < settled < 5e-5
    assert check_tracking(run_claims.Tracking(error=1.01 * settled, settle=1.0), good).holds is True
    verdict = check_tracking(run_claims.Tracking(error=0.99 * settled, settle=1.0), good)
    assert verdict.holds is False and verdict.margin == pytest.approx(-0.01 * settled, rel=1e-6)


def test_tracking_before_settling_does_not_count_and_a_run_within_it_decides_nothing(good):
    start = bent(good, tcp_x=lambda t, x: x + 0.5 * (t < 0.9))
    assert check_tracking(run_claims.Tracking(settle=1.0), start).holds is True
    assert check_tracking(run_claims.Tracking(settle=0.8), start).holds is False
    verdict = check_tracking(run_claims.Tracking(settle=4.0), good)
    assert verdict.holds is None and verdict.strength is None and "settling" in verdict.worst


@pytest.mark.parametrize(
    "name, change, holds",
    [
        ("p_a1", lambda p: p, True),
        ("p_a1", lambda p: np.where(p == p.min(), 0.99e5, p), False),
        ("p_b2", lambda p: np.where(p == p.max(), 1.26 * CRANE.p_s, p), False),
        ("p_b2", lambda p: np.where(p == p.max(), 1.24 * CRANE.p_s, p), True),
    ],
)
def test_pressures_at_a_single_instant(good, name, change, holds):
    verdict = check_pressures(run_claims.Pressures(), bent(good, **{name: lambda t, p: change(p)}))
    assert verdict.holds is holds and (holds or name in verdict.worst)


@pytest.mark.parametrize("share, holds", [(0.009, True), (0.011, False)])
def test_saturation_counts_time_at_the_limit(good, share, holds):
    full = lambda t, u: np.where(t < share * t[-1], 10.0, u)
    verdict = check_saturation(run_claims.Saturation(share=0.01), commanded(good, full, 2))
    assert verdict.holds is holds and "u_2" in verdict.worst


@pytest.fixture(scope="module")
def used(good):
    """Half of the range that the first command uses, V."""
    u, (low, high) = good.log.array("u_1"), CRANE.limits()["u_1"]
    return range_used(smoothed(u, good.log.time[1]), low, high)


@pytest.mark.parametrize(
    "share, frequency, kind",
    [
        (0.06, 25.0, None),
        (0.09, 25.0, "chatter of u_1, 25 Hz"),
        (0.12, 9.0, "chatter of u_1, 9"),
        (0.12, 0.6, None),
        (0.5, 0.5, None),
    ],
)
def test_chatter_is_told_from_work(good, used, share, frequency, kind):
    """An amplitude of 7.1 % of the range used is 5 % rms."""
    added = lambda t, u: u + share * used * np.sin(2 * np.pi * frequency * t)
    verdict = check_settled(run_claims.Settled(), commanded(good, added))
    assert verdict.holds is (kind is None) and (kind or "") in verdict.worst


@pytest.mark.parametrize("step", [1e-3, 5e-3, 0.05])
def test_what_swings_is_kept_and_a_jump_is_not(step):
    """At least five changes of side a window of half a second, or of twenty samples where these take longer."""
    t = np.arange(0.0, 4.0, step)
    window = max(0.5, 20 * step)
    for swings, kept in ((7, True), (3, False)):
        wave = np.cos(np.pi * swings / window * t + 0.3)
        assert (swinging(wave, step) != 0).all() if kept else not swinging(wave, step).any()
    jump = np.where(t > 1.3, np.exp(-(t - 1.3) / 0.2), 0.0) - np.where(t < 1.3, 0.02, 0.0)
    assert not swinging(jump, step).any()
    part = np.where(t < 2.0, jump, np.cos(np.pi * 7 / window * t + 0.3))
    assert not swinging(part, step)[t < 2.0 - step / 2].any()
    assert (swinging(part, step)[t > 2.0] != 0).all()


def test_noise_on_a_command_is_chatter_above_its_rms_only(good, used):
    noise = np.random.default_rng(4).normal(size=len(good.log.time))
    assert (
        check_settled(
            run_claims.Settled(), commanded(good, lambda t, u: u + 0.045 * used * noise)
        ).holds
        is True
    )
    assert (
        check_settled(
            run_claims.Settled(), commanded(good, lambda t, u: u + 0.06 * used * noise)
        ).holds
        is False
    )


def test_a_range_that_somebody_states_hides_no_chatter(good, used):
    """The law allows itself a hundred times as much: the share is of what is used."""
    wide = replace(good, loop=ClosedLoop(CRANE, Sampled(Saturated(KNOWN, -1000.0, 1000.0), 1e-3)))
    added = lambda t, u: u + 0.12 * used * np.sin(2 * np.pi * 25 * t)
    assert check_settled(run_claims.Settled(), commanded(wide, added)).holds is False


def test_a_jump_is_no_chatter(good, used):
    """Friction fed forward jumps where a cylinder turns."""
    jump = lambda t, u: u + 0.4 * used * (t > 2.6) - 0.4 * used * (t > 3.3)
    assert check_settled(run_claims.Settled(), commanded(good, jump)).holds is True


@pytest.mark.parametrize(
    "amplitude, rate, kind",
    [
        (2e-4, 0.0, "limit cycle"),
        (0.5e-4, 0.0, None),
        (2e-3, -3.0, None),
        (1e-5, 2.0, "growing"),
        (2e-2, -3.0, None),
    ],
)
def test_joint_oscillation_by_size_and_trend(good, amplitude, rate, kind):
    """Sustained or growing above the floor is refused; dying out, or too small, is not."""
    added = lambda t, q: q + amplitude * np.exp(rate * t) * np.sin(2 * np.pi * 7 * t)
    verdict = check_settled(run_claims.Settled(), bent(good, q_2=added))
    assert verdict.holds is (kind is None) and (kind or "no oscillation") in verdict.worst


def test_a_growing_oscillation_of_a_real_loop_is_seen():
    """A delay of 10 ms on the ideal crane: tool error still under a millimetre, valves already hammering."""
    slow = ClosedLoop(CRANE, Delayed(Sampled(KNOWN, 1e-3), 10e-3, capacity=10))
    r = ran(slow, Scenario(reference=PATH, duration=2.0))
    assert check_tracking(run_claims.Tracking(settle=1.0), r).holds is True
    verdict = check_settled(run_claims.Settled(), r)
    assert verdict.holds is False and "chatter" in verdict.worst


# ---- the machine's own limits ---------------------------------------------------------------------------------------
def share_of(run, part, value):
    """A signal that takes a value for a share of the run."""
    return lambda t, x: np.where(t < part * t[-1], value, x)


@pytest.mark.parametrize(
    "signal, value, part, word",
    [
        ("Q_s1", 0.8 * CRANE.Q_max, 0.03, None),
        ("Q_s1", 1.2 * CRANE.Q_max, 0.03, "pump flow"),
        ("x_1", 1.01 * CRANE.cylinders[0].stroke, 0.01, "piston 1"),
        ("p_b2", -1e3, 0.01, "vacuum in p_b2"),
        ("p_b2", 1e3, 0.01, None),
    ],
)
def test_a_limit_of_the_machine_is_never_passed(good, signal, value, part, word):
    verdict = check_machine_limits(
        run_claims.MachineLimits(), bent(good, **{signal: share_of(good, part, value)})
    )
    assert verdict.holds is (word is None) and (word or "nearest") in verdict.worst
    assert (verdict.margin >= 0) is (word is None)


def test_a_limit_that_is_borne_counts_by_its_share_of_time():
    """A spool at its stop for 0.9 % of the time, and for 1.1 %."""
    real = ran(sampled(REAL), Scenario(reference=PATH, duration=1.0))
    stop = REAL.cylinders[0].valve.u_max
    for part, holds in ((0.009, True), (0.011, False)):
        seen = bent(real, u_s_1=share_of(real, part, stop))
        assert check_machine_limits(run_claims.MachineLimits(), seen).holds is holds
    assert (
        check_machine_limits(
            run_claims.MachineLimits(share=0.02), bent(real, u_s_1=share_of(real, 0.011, stop))
        ).holds
        is True
    )


# ---- energy ---------------------------------------------------------------------------------------------------------
def test_energy_of_the_run_balances_and_a_leak_in_the_books_is_seen(good):
    energy = check_energy(run_claims.EnergyBalance(), good)
    assert energy.holds is True and energy.data["gap"] < 1e-6 * energy.data["throughput"]
    lost = bent(good, E_friction=lambda t, e: 0.9 * e)
    assert check_energy(run_claims.EnergyBalance(), lost).holds is False


def test_an_energy_that_does_not_balance_leaves_sampled_verdicts_undecided(good):
    """A tenth of the friction missing: the balance fails, and nothing that rests on the run is decided."""
    lost = bent(good, E_friction=lambda t, e: 0.9 * e)
    sound = check_energy(run_claims.EnergyBalance(), good)
    energy = check_energy(run_claims.EnergyBalance(), lost)
    assert sound.holds is True and energy.holds is False
    for check, claim in (
        (check_tracking, run_claims.Tracking(settle=1.0)),
        (check_saturation, run_claims.Saturation()),
    ):
        assert resting_on(check(claim, good), sound, good).holds is True
        doubted = resting_on(check(claim, lost), energy, lost)
        assert doubted.holds is None and "energy" in doubted.worst
        assert [a.holds for a in doubted.assumptions] == [False]
    identity = check_identity(C.Identity(), lost)
    assert (
        resting_on(identity, energy, lost).holds is True
    )  # at any state, however the run got there


@pytest.mark.parametrize("key", ["power-flows", "valve-losses"])
def test_books_that_fail_beyond_a_stroke_say_nothing(good, key):
    """Of a run inside its strokes they are violated, beyond one undecided with the place; what holds goes on to hold."""
    sound = check_energy(run_claims.EnergyBalance(), good)
    failed = Verdict(key, "books", False, "numerical", -1e-12)
    out = SimpleNamespace(left=(1.5, "the cylinder leaves its stroke"), log=good.log)
    assert resting_on(failed, sound, good).holds is False
    doubted = resting_on(failed, sound, out)
    assert doubted.holds is None and "leaves its stroke" in doubted.worst
    out = SimpleNamespace(left=out.left, log=good.log, hollow=(0, ""), crossed=(0, ""))
    assert resting_on(replace(failed, holds=True), sound, out).holds is True
    assert resting_on(replace(failed, key="holds-weight"), sound, out).holds is False


def test_steps_too_long_for_stiff_oil_are_made_shorter():
    """No longer than the oil bears, whatever the scenario allows, so that the energy of the run balances."""
    scenario = Scenario(reference=PATH, duration=0.5, max_step=30e-3)
    loop = sampled(replace(CRANE, oil=replace(CRANE.oil, β=1.6e9)), T_s=30e-3)
    (energy,) = verify(loop, scenario, [run_claims.EnergyBalance()])
    assert energy.holds is True


def test_nothing_moved_is_no_balance(good):
    still = bent(good, **{f"E_{n}": lambda t, e: 0 * e for n in CRANE.power_names})
    assert check_energy(run_claims.EnergyBalance(), still).holds is None


def test_energy_that_drifts_beyond_a_stroke_says_nothing_of_the_run(good):
    """Nor does a divergence there; one within the strokes is a failure."""
    claim = run_claims.EnergyBalance()
    off = {"E_friction": lambda t, e: 0.9 * e}
    out = bent(good, **off, x_2=lambda t, x: np.where(t > 3.0, x - 2.0, x))
    drifted = check_energy(claim, out)
    assert drifted.holds is None and "leaves its stroke" in drifted.worst
    ended = replace(good.log.status, completed=False, message="diverged: q_1 is not finite")
    beyond, within = (replace(r, log=replace(r.log, status=ended)) for r in (out, good))
    assert check_energy(claim, beyond).holds is None
    assert check_energy(claim, within).holds is False


def test_what_holds_beyond_a_stroke_is_undecided_and_what_fails_stays(good):
    out = bent(good, x_2=lambda t, x: np.where(t > 3.0, x - 2.0, x))
    energy = check_energy(run_claims.EnergyBalance(), good)
    held, failed = (
        check_pressures(run_claims.Pressures(), out),
        check_tracking(run_claims.Tracking(error=1e-7, settle=1.0), out),
    )
    doubted = resting_on(held, energy, out)
    assert doubted.holds is None and "piston 2 leaves its stroke at t = 3.0" in doubted.worst
    assert (
        resting_on(failed, energy, out).holds is False
        and resting_on(held, energy, good).holds is True
    )
