"""Ledgers written by hand: every figure beside the verdicts on identity, cuts, inequality (99), hypotheses and accuracy."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from workbench.contract.system import Signal
from workbench.run.log import Log, Status
from workbench.verification import accuracy
from workbench.verification.ledger import claims as ledger_claims
from workbench.verification.ledger import measured
from workbench.verification.ledger.balance import Balance
from workbench.verification.ledger.rates import certified_rate, largest_rate
from workbench.verification.results.analysis import energy_rows, statistics
from workbench.verification.verdict import Assumption, Verdict

BODY, TIP = ("arm", "body"), ("arm", "tip")
TIME = np.array([0.0, 1.0, 2.0, 3.0])


def books(flows=None, perturbations=None, dissipation=None, scale=100.0, vdot=None, t=TIME, **more):
    """A ledger of two components over four instants, v̇ such that it balances unless it is given."""
    n = len(t)
    flows = {k: np.array(v, float) for k, v in (flows or {}).items()}
    perturbations = {k: np.array(v, float) for k, v in (perturbations or {}).items()}
    D = np.zeros((n, 2)) if dissipation is None else np.array(dissipation, float)
    rate = -D.copy()
    for (s, c, _), values in (flows | perturbations).items():
        rate[:, (BODY, TIP).index((s, c))] += values
    v = more.pop("v", np.ones((n, 2)))
    return Balance(
        np.array(t),
        (BODY, TIP),
        np.array(v, float),
        rate if vdot is None else np.array(vdot, float),
        D,
        np.full((n, 2), float(scale)),
        flows,
        perturbations,
        {k: np.array(q, float) for k, q in more.items()},
    )


def ran(balance, completed=True, scale=None, log_step=1e-3, period=1e-3):
    """A run with this ledger; its machine has no scale of energy unless one is given."""
    status = Status(completed, "ended" if completed else "diverged: q_1", 4.0)
    own = {} if scale is None else {"energy": SimpleNamespace(value=scale)}
    plant = SimpleNamespace(scales=lambda: own, limits=dict, inputs=())
    return SimpleNamespace(
        balance=balance,
        log=SimpleNamespace(status=status, time=np.arange(4) * log_step),
        loop=SimpleNamespace(plant=plant, period=period),
        kept={ledger_claims.AROUND: balance},
    )


# ---- the identity -------------------------------------------------------------------------------------------------
TOLERANT = SimpleNamespace(tolerance=1e-9, counted=False)


def identity(logged, random, completed=True):
    run = ran(logged, completed)
    run.kept[ledger_claims.AROUND] = random
    return ledger_claims.check_identity(TOLERANT, run)


def off(k, i, by, scale=100.0):
    """A ledger whose row i is wrong at instant k, by so much."""
    vdot = np.zeros((4, 2))
    vdot[k, i] = by
    return books(vdot=vdot, scale=scale)


def test_an_identity_that_holds_tells_the_largest_residual_and_where():
    found = identity(off(2, 1, 3e-8), off(1, 0, 2e-8))
    assert found.holds is True and found.strength == "numerical" and found.counted is False
    assert found.claim == "the completed identity holds at 8 states"
    assert found.margin == pytest.approx(1e-9 - 3e-10) and found.limit == 1e-9
    assert found.unit == "1" and found.data == {"residual": pytest.approx(3e-10), "states": 8}
    assert found.worst == "residual 3.0e-10 of its terms, arm.tip, t = 2.000 s"


def test_an_identity_that_fails_at_random_states():
    found = identity(off(2, 1, 1e-8), off(3, 0, -2e-7), completed=False)
    assert found.holds is False and found.margin == pytest.approx(1e-9 - 2e-9)
    assert found.worst == (
        "residual 2.0e-09 of its terms, arm.body, random state 3; before the run diverged: q_1"
    )


def test_a_residual_that_is_no_number_fails_and_one_of_overflowing_terms_does_not_count():
    assert identity(off(2, 1, math.nan), off(1, 0, 0.0)).holds is False
    huge = off(2, 1, 5.0)
    huge.scale[2] = 1e101
    assert identity(huge, off(1, 0, 0.0)).holds is True
    large = off(2, 1, 5.0)
    large.scale[2, 1] = 0.9e100
    assert list(ledger_claims.readable(large)) == [True] * 4
    assert list(ledger_claims.readable(huge)) == [True, True, False, True]


def test_a_component_that_dissipates_less_than_nothing_is_a_gain_of_the_wrong_sign():
    """A hundred times the tolerance of its terms: it balances, and is refused."""
    wrong = books(dissipation=[[0, 0], [0, -1e-5], [0, 0], [0, 0]])
    right = books(dissipation=[[0, 0], [0, 1e-5], [0, -0.9e-7], [0, 0]])
    found = identity(wrong, right)
    assert found.holds is False and "arm.tip dissipates less than nothing" in found.worst
    assert identity(right, right).holds is True
    assert identity(right, wrong).holds is False


@pytest.mark.parametrize("known", [True, False])
def test_random_states_lie_around_the_runs(monkeypatch, known):
    """As far as each unit says, joints two hundredths inside their range, inputs within 30 %; the same ones every time."""
    units = {
        "q": "rad",
        "l": "m",
        "z_1": "m",
        "dq": "rad/s",
        "v": "m/s",
        "p": "Pa",
        "u": "V",
        "n": "1",
    }
    spread = {"z_1": 1e-5, "dq": 0.3, "v": 0.1, "p": 1e6, "u": 2.0, "n": 0.0}
    kinds = {"z_1": "friction"}
    signals = tuple(Signal(n, unit, kind=kinds.get(n, "")) for n, unit in units.items())
    values = np.tile([0.5, 0.3, 2e-5, 1.0, 0.2, 5e6, 1.0, 7.0], (3, 1))
    values[2, :2] = 0.6, 0.35
    ranges = [(0.45, 0.56), (0.0, 9.0)]
    plant = SimpleNamespace(states=signals, position_names=("q", "l"), dependent=False)
    if known:
        plant.joint_range = lambda: ranges
    monkeypatch.setattr(ledger_claims, "isinstance", lambda plant, kind: known, raising=False)
    monkeypatch.setattr(
        ledger_claims, "ledger_function", lambda loop, live: lambda loop, t, x, w: (t, x, w)
    )
    run = SimpleNamespace(
        log=Log(np.arange(3.0), values, signals, {}, Status(True, "ended", 2.0)),
        loop=SimpleNamespace(plant=plant, states=signals),
        demand=SimpleNamespace(live=("r",), at=lambda t: np.full((len(t), 1), 10.0)),
    )
    t, x, w = ledger_claims.random_balance(run)
    assert t.tolist() == [0.0] * 400 and x.shape == (400, 8) and w.shape == (400, 1)
    for i, name in enumerate(units):
        if name in spread:
            off = x[:, i] - values[0, i]
            assert np.abs(off).max() <= spread[name]
            assert min(off.max(), -off.min()) >= 0.95 * spread[name]
    assert 7.0 <= w.min() < 7.3 and 12.7 < w.max() <= 13.0
    for i, (far, (low, high)) in enumerate(
        zip((0.1, 0.02), ranges if known else [(0.5, 0.6), (0.3, 0.35)])
    ):
        edge = 0.02 * (high - low)
        least, most = max(low + edge, values[0, i] - far), min(high - edge, values[2, i] + far)
        assert x[:, i].min() == pytest.approx(least, abs=0.05 * far)
        assert x[:, i].max() == pytest.approx(most, abs=0.05 * far)
        assert least <= x[:, i].min() and x[:, i].max() <= most
    assert (ledger_claims.random_balance(run)[1] == x).all()
    assert len(ledger_claims.random_balance(run, 7)[0]) == 7
    assert (ledger_claims.random_balance(run, seed=8)[1] != x).any()


# ---- cuts ---------------------------------------------------------------------------------------------------------
LEFT, RIGHT = (*BODY, "joint"), (*TIP, "joint")


def flowing(right, left=(5.0, -5.0, 2.0, 0.0), **more):
    return {LEFT: left, RIGHT: right, **more}


def test_power_flows_that_cancel():
    found = ledger_claims.check_power_flows(
        TOLERANT, ran(books(flowing((-5.0, 5.0, -2.0 + 1e-8, 0.0))))
    )
    assert found.holds is True and found.strength == "numerical"
    assert found.data == {"share": pytest.approx(5e-11), "cut": "joint", "largest": 5.0}
    assert found.margin == pytest.approx(1e-9 - 5e-11) and found.limit == 1e-9
    assert found.worst == (
        "5e-11 of what meets there, at cut joint (arm.body and arm.tip); flows of up to 5 W in the run"
    )


def test_power_flows_are_asked_at_random_states_too():
    """A run at rest says nothing of its cuts: a side that is lost shows at the states around it."""
    run = ran(books(flowing((0.0, 0.0, 0.0, 0.0), left=(0.0, 0.0, 0.0, 0.0))))
    run.kept[ledger_claims.AROUND] = books(flowing((-5.0, 5.0, -2.0, 0.0)))
    assert ledger_claims.check_power_flows(TOLERANT, run).holds is True
    run.kept[ledger_claims.AROUND] = books(flowing((0.0, 5.0, -2.0, 0.0)))
    found = ledger_claims.check_power_flows(TOLERANT, run)
    assert found.holds is False and found.data["cut"] == "joint" and found.data["largest"] == 0.0


def test_power_flows_that_do_not_cancel_name_who_meets_there():
    found = ledger_claims.check_power_flows(
        TOLERANT, ran(books(flowing((5.0, 5.0, -2.0, 0.0))), completed=False)
    )
    assert found.holds is False and found.data["share"] == pytest.approx(10 / 200)
    assert "cut joint (arm.body and arm.tip)" in found.worst
    assert found.worst.endswith("in the run; before the run diverged: q_1")
    lost = ledger_claims.check_power_flows(TOLERANT, ran(books({LEFT: (0.0, 3.0, 0.0, 0.0)})))
    assert lost.holds is False and "cut joint (arm.body)" in lost.worst


def test_outer_cuts_need_not_cancel():
    outside = {(*BODY, "base arm"): (9.0, 9.0, 9.0, 9.0), (*TIP, "tip arm"): (7.0, 0, 0, 0)}
    found = ledger_claims.check_power_flows(TOLERANT, ran(books(outside)))
    assert found.holds is None and found.worst == "no inner cut"
    both = ledger_claims.check_power_flows(
        TOLERANT, ran(books(flowing((-5.0, 5.0, -2.0, 0.0)) | outside))
    )
    assert both.data["cut"] == "joint" and both.data["share"] == 0.0
    assert ledger_claims.outer("base arm") and ledger_claims.outer("tip arm")
    assert not ledger_claims.outer("joint")


def test_a_ledger_that_overflows_says_nothing():
    for check in (ledger_claims.check_power_flows, ledger_claims.check_inequality):
        found = check(TOLERANT, ran(books(flowing((0, 0, 0, 0)), scale=1e101), completed=False))
        assert found.holds is None and found.worst == "nothing to read: diverged: q_1"
        assert found.counted is False


# ---- inequality (99) ----------------------------------------------------------------------------------------------
def inequality(perturbations, flows=None, run=None, **more):
    b = books(flows, perturbations, dissipation=np.full((4, 2), 1.0), **more)
    return ledger_claims.check_inequality(TOLERANT, ran(b, **(run or {})))


def test_the_inequality_where_nothing_brings_power():
    found = inequality({(*BODY, "hold"): (-1.0, 0.0, -2.0, 0.0)})
    assert found.holds is True and found.strength == "sampled" and found.margin == 0.0
    assert found.limit == 0.0 and found.unit == "W"
    assert found.worst.startswith("at all 4 logged instants, to rounding (")
    assert found.data == {"share": 0.0, "excess": 0.0, "largest_rate": 4.0}


def test_the_inequality_where_something_does():
    """Per structure in sum: 3 − 1 W at the second instant is the worst of two bad ones."""
    found = inequality(
        {(*BODY, "hold"): (-1.0, 3.0, 1.5, 0.0), (*TIP, "model"): (0.0, -1.0, 0.0, -4.0)}
    )
    assert found.holds is False and found.margin == pytest.approx(-2.0)
    assert found.data == {"share": 0.5, "excess": 2.0, "largest_rate": 6.0}
    assert found.worst == (
        "not at 50 % of 4 instants, most by 2 W (largest |v̇| 6 W) at t = 1.000 s, structure arm, "
        "hold term of body"
    )


def test_power_from_the_base_is_named_by_the_inequality_and_that_of_the_tip_is_not():
    b = books(
        {(*BODY, "base arm"): (9.0,) * 4, (*TIP, "tip arm"): (0.0, 1.0, 0.0, 0.0)}
        | flowing((-5.0, 5.0, -2.0, 0.0))
    )
    assert set(ledger_claims.outside(b)) == {(*TIP, "tip arm")}
    assert ledger_claims.per_structure_excess(b)["arm"].tolist() == [0.0, 1.0, 0.0, 0.0]
    assert ledger_claims.worst_cause(b, "arm", 1) == "tip arm term of tip"


def test_rounding_is_no_excess():
    """1e-12 of all terms (two of 100 W), or what is rounding of the machine's energy within a second."""
    for most, holds in ((1.9e-10, True), (2.1e-10, False)):
        assert inequality({(*BODY, "hold"): (0, most, 0, 0)}).holds is holds
    for most, holds in ((0.9e-3, True), (1.1e-3, False)):
        found = inequality({(*BODY, "hold"): (0, most, 0, 0)}, run={"scale": 1e9})
        assert found.holds is holds


@pytest.mark.parametrize(
    "hold, run, why",
    [
        ((0.0, math.nan, 0.0, 0.0), {}, "not a number"),
        ((0.0, -1.0, 0.0, 0.0), {"completed": False}, "it holds until the run diverged"),
        ((0.0, -1.0, 0.0, 0.0), {"log_step": 2e-3}, "the log skips samples"),
        ((0.0, -1.0, 0.0, 0.0), {"scale": 1e13}, "start away from the reference"),
    ],
)
def test_what_decides_nothing(hold, run, why):
    found = inequality({(*BODY, "hold"): hold}, run=run)
    assert found.holds is None and why in found.worst and found.margin is None
    assert found.data["largest_rate"] == pytest.approx(3.0, nan_ok=True) or "number" in why


def test_what_is_violated_is_so_whatever_the_run_did_later():
    bad = {(*BODY, "hold"): (0.0, 1.0, 0.0, 0.0)}
    for run in ({"completed": False}, {"log_step": 2e-3}):
        assert inequality(bad, run=run).holds is False


# ---- v̂ -----------------------------------------------------------------------------------------------------------
def test_the_predicted_v_under_a_constant_cause():
    """v̂' = −c v̂ + d: d/c + (v(0) − d/c) e^{−ct} exactly, for a constant d; v(0) + d t without a rate."""
    t = np.array([0.0, 0.5, 0.5, 2.0, 3.0])
    b = books(perturbations={(*BODY, "hold"): (6.0,) * 5}, t=t, v=np.full((5, 2), 2.5))
    c = 1.7
    # at the jump in the middle v̂ takes what v does, which is nothing here
    assert ledger_claims.predicted(b, c) == pytest.approx(6 / c + (5 - 6 / c) * np.exp(-c * t))
    assert ledger_claims.predicted(b, 0.0) == pytest.approx(5 + 6 * t)
    assert ledger_claims.predicted(b, 1e-15) == pytest.approx(5 + 6 * t)


def test_the_predicted_v_jumps_where_memory_does():
    v = np.array([[2.0, 1.0], [2.0, 1.0], [4.0, 1.5], [0.0, 0.0]])
    b = books(t=np.array([0.0, 1.0, 1.0, 2.0]), v=v)
    assert ledger_claims.predicted(b, 0.0) == pytest.approx([3.0, 3.0, 5.5, 5.5])
    linear = books(perturbations={(*BODY, "hold"): (0.0, 2.0, 4.0, 6.0)})
    assert ledger_claims.predicted(linear, 0.0) == pytest.approx(2 + np.array([0, 1, 4, 9.0]))


# ---- hypotheses, measured -----------------------------------------------------------------------------------------
def told(holds=True, text="a", terms=("hold",), worst="", margin=1.0):
    return Assumption(text, holds, margin, "m", worst, "", terms)


def judged(given, perturbations, flows=None, scale=None):
    return measured.measured(ran(books(flows, perturbations), scale=scale), given)


def test_a_perturbation_that_is_not_zero_fails_the_hypothesis_that_names_it():
    found = judged([told(worst="was fine")], {(*BODY, "hold"): (0.0, -3.0, 2.0, 0.0)})
    (a,) = found
    assert a.holds is False and a.margin == -3.0 and a.unit == "W"
    assert a.worst == "was fine; hold of body: 3 W at t = 1.00 s"
    (b,) = judged([told()], {(*BODY, "hold"): (0.0, 0.0, 2.0, 0.0)})
    assert b.worst == "hold of body: 2 W at t = 2.00 s" and b.margin == -2.0
    own = [told(text="other", terms=("hold of tip",)), told(terms=("hold of body",))]
    assert [a.holds for a in judged(own, {(*BODY, "hold"): (1.0, 0, 0, 0)})] == [True, False]


def test_what_is_not_known_is_contradicted_first():
    given = [told(True, "first"), told(None, "second"), told(True, "third")]
    found = judged(given, {(*BODY, "hold"): (1.0, 0, 0, 0)})
    assert [a.holds for a in found] == [True, False, True]
    again = judged([told(True, "first"), told(False, "second")], {(*BODY, "hold"): (1.0, 0, 0, 0)})
    assert [a.holds for a in again] == [True, False] and again[1].margin == 1.0


def test_a_perturbation_nobody_speaks_of_is_a_hypothesis_of_its_own():
    found = judged([told(terms=("delay",))], {(*TIP, "hold"): (0.0, 0.0, 0.0, 4.0)})
    assert found[0].holds is True and found[1].text == "no hold term in the ledger"
    assert found[1].holds is False and found[1].margin == -4.0 and found[1].terms == ("hold",)
    assert found[1].unit == "W" and "hold of tip: 4 W at t = 3.00 s" == found[1].worst


def test_friction_may_take_power_and_not_bring_it():
    takes = {(*BODY, "friction"): (0.0, -9.0, 0.0, 0.0)}
    brings = {(*BODY, "friction"): (0.0, -9.0, 2.0, 0.0)}
    rubs = [told(terms=("friction",))]
    assert judged(rubs, takes)[0].holds is True
    (failed,) = judged(rubs, brings)
    assert failed.holds is False and failed.margin == -2.0


def test_only_what_is_more_than_rounding_counts():
    """1e-12 of the component's own terms, or what is rounding of the machine's energy."""
    for most, holds in ((0.9e-10, True), (1.1e-10, False)):
        assert judged([told()], {(*BODY, "hold"): (0, most, 0, 0)})[0].holds is holds
    for most, holds in ((0.9e-3, True), (1.1e-3, False)):
        assert judged([told()], {(*BODY, "hold"): (0, most, 0, 0)}, scale=1e9)[0].holds is holds
    with_nan = {(*BODY, "hold"): (math.nan, 2.0, 0.0, 0.0)}
    assert judged([told()], with_nan)[0].margin == -2.0


def test_power_through_an_outer_cut_is_measured_too():
    flows = {(*BODY, "base arm"): (0.0, 2.0, 0.0, 0.0)} | flowing((-5.0, 5.0, -2.0, 0.0))
    found = measured.excesses(ran(books(flows)))
    assert found == {("body", "base arm"): (2.0, 1.0)}
    assert measured.term("", "hold") == "hold" and measured.term("body", "hold") == "hold of body"


# ---- a run's own error --------------------------------------------------------------------------------------------
def logged(**units):
    signals = tuple(Signal(name, unit) for name, unit in units.items())
    values = np.column_stack([np.linspace(0.0, 4.0, 4) for _ in signals])
    return Log(TIME, values, signals, {}, Status(True, "ended", 3.0))


def exact(known, verdict, wanted=(), log=None, **units):
    log = log or logged(**units)
    plant = SimpleNamespace(states=log.signals, outputs=())
    run = SimpleNamespace(
        log=log,
        loop=SimpleNamespace(plant=plant, states=log.signals),
        demand=SimpleNamespace(wanted=wanted),
        scenario=SimpleNamespace(accuracy=None),
    )
    return accuracy.beyond_error(verdict, run, known)


def sampled(key, holds, margin, unit, limit=None):
    strength = None if holds is None else "sampled"
    return Verdict(key, "text", holds, strength, margin, unit, limit, worst="as it was")


@pytest.mark.parametrize(
    "margin, holds, left", [(2e-3, True, True), (1.9e-3, None, True), (-1.9e-3, None, False)]
)
def test_a_margin_below_the_runs_own_error_decides_nothing(margin, holds, left):
    """The largest error of the signals in the margin's unit: 2 of 1 and 2 mm."""
    found = exact(
        {"x": 1e-3, "y": 2e-3, "p": 9.0},
        sampled("pressures", margin > 0, margin, "m"),
        x="m",
        y="m",
        p="Pa",
    )
    assert found.holds is holds and found.data["own_error"] == 2e-3
    if holds is None:
        word = "left" if left else "over"
        assert f"1.9 mm {word} is less than the run's own error there, 2 mm" in found.worst
        assert found.worst.endswith("was: as it was")


def test_the_error_of_a_path_is_that_of_what_follows_it():
    """√(3² + 4²) of the tool's coordinates, or of the outputs that are followed."""
    tool = {"tcp_x": 3e-3, "tcp_y": 4e-3, "tcp_z": 0.0, "y": 7.0}
    asked = sampled("tracking", True, 4.9e-3, "m")
    assert exact(tool, asked, tcp_x="m", y="m").data["own_error"] == pytest.approx(5e-3)
    plain = {"y": 3e-3, "z": 4e-3, "w": 9.0}
    wanted = (("y", 0), ("y", 1), ("z", 0), ("w", 1), ("absent", 0))
    found = exact(plain, asked, wanted, y="m", z="m", w="m")
    assert found.data["own_error"] == pytest.approx(5e-3) and found.holds is None
    assert exact(plain, asked, (("absent", 0),), y="m") is asked


def test_an_energy_is_known_to_twice_the_share_of_the_states(monkeypatch):
    monkeypatch.setattr(accuracy, "share_of", lambda log, known, names: (1e-3, "x"))
    verdict = sampled("practical", True, 2.0, "J", 10.0)  # v = 8 J
    assert exact({"x": 1.0}, verdict, x="m").data["own_error"] == pytest.approx(2e-3 * 8)
    assert exact({"x": 1.0}, sampled("e", True, 2.0, "J"), x="m").data == {}


def test_what_is_not_read_off_the_run_is_left_alone():
    known = {"x": 1.0}
    proof = Verdict("k", "t", True, "proof", 1e-9, "m")
    assert exact(known, proof, x="m") is proof
    for verdict in (sampled("k", True, None, "m"), sampled("k", True, 1e-9, "Pa")):
        assert exact(known, verdict, x="m") is verdict
    share = sampled("saturation", True, 1e-9, "1")
    assert exact(known, share, x="1") is share
    small = sampled("k", True, 1e-9, "m")
    assert exact({}, small, x="m") is small


@pytest.mark.parametrize("share, holds", [(1e-4, True), (1e-3, True), (1.1e-3, None)])
def test_the_accuracy_that_was_asked_for(monkeypatch, share, holds):
    monkeypatch.setattr(accuracy, "share_of", lambda log, known, names: (share, "x"))
    log = logged(x="m")
    run = SimpleNamespace(
        log=log,
        scenario=SimpleNamespace(accuracy=1e-3),
        loop=SimpleNamespace(states=log.signals),
        kept={"errors": {"x": 2e-3}},
    )
    found = accuracy.asked(run, {"x": 2e-3})
    assert found.holds is holds and found.data == {"share": share, "state": "x"}
    assert f"{share:.2g} of x, 2 mm" in found.worst
    if holds:
        assert found.margin == pytest.approx(1e-3 - share) and found.limit == 1e-3
        assert found.strength == "numerical" and found.unit == "1"
    else:
        assert "no step tried does better" in found.worst
    assert accuracy.told(run) == {"own error of the run, share of x": (share, "1")}
    assert accuracy.within_accuracy(run, [])[0].key == "accuracy"
    monkeypatch.setattr(accuracy, "share_of", lambda log, known, names: (0.0, ""))
    assert accuracy.told(run) == {"own error of the run": (0.0, "1")}
    assert accuracy.asked(run, {"x": 0.0}).worst == "no state differs"
    run.kept["errors"] = {}
    assert accuracy.told(run) == {}


@pytest.mark.parametrize("completed, why", [(True, "own integrator"), (False, "diverged")])
def test_an_accuracy_that_cannot_be_told(completed, why):
    status = SimpleNamespace(completed=completed, message="diverged: x")
    run = SimpleNamespace(
        scenario=SimpleNamespace(accuracy=1e-3), log=SimpleNamespace(status=status)
    )
    found = accuracy.asked(run, {})
    assert found.holds is None and found.worst.startswith("its own error cannot be told: ")
    assert why in found.worst


# ---- statistics and energies --------------------------------------------------------------------------------------
def test_statistics_of_a_run_at_constant_speed():
    """A tool at 3 m/s off its path by e(t) = t mm: largest 4, rms √(16/3), L2 √(64/3) mm, ρ = 4 mm over 3 m/s."""
    t = np.linspace(0.0, 4.0, 4001)
    values = np.column_stack([3.0 * t, 0 * t, 0 * t])
    signals = tuple(Signal(f"tcp_{a}", "m") for a in "xyz")
    run = SimpleNamespace(
        log=Log(t, values, signals, {}, Status(True, "ended", 4.0)),
        tool_error=1e-3 * t,
        demand=SimpleNamespace(reference=None),
        loop=SimpleNamespace(controller=SimpleNamespace(inner=None)),
        energy=None,
    )
    found = statistics(run)
    assert found["tool error, largest"] == (pytest.approx(4e-3), "m")
    assert found["tool error, rms"] == (pytest.approx(1e-3 * math.sqrt(16 / 3)), "m")
    assert found["tool error, L2 norm"] == (pytest.approx(1e-3 * math.sqrt(64 / 3)), "m s^0.5")
    assert found["ρ = max|e|/max|v|"] == (pytest.approx(4e-3 / 3), "s")
    assert set(found) == {f"tool error, {k}" for k in ("largest", "rms", "L2 norm")} | {
        "ρ = max|e|/max|v|"
    }
    run.log = Log(t[:1], values[:1], signals, {}, run.log.status)
    assert statistics(run) == {}


def test_where_the_energy_of_a_run_went():
    account = SimpleNamespace(
        through=8.0, by={"pump": 5.0, "load": -3.0}, change=2.0, drift=0.5, share=0.0625
    )
    assert energy_rows(SimpleNamespace(energy=None)) == {}
    found = energy_rows(SimpleNamespace(energy=account))
    assert found == {
        "energy that passed through": (8.0, "J"),
        "energy by pump": (5.0, "J"),
        "energy by load": (-3.0, "J"),
        "energy stored, change": (2.0, "J"),
        "energy drift, largest": (0.5, "J"),
        "energy drift, share of throughput": (6.25, "%"),
    }
    account.through = 0.0
    assert "energy drift, share of throughput" not in energy_rows(SimpleNamespace(energy=account))


# ---- rates --------------------------------------------------
def test_the_largest_rate_of_two_matrices():
    """K + Kᵀ − c M ⪰ 0: the least of 2 k_i/m_i for diagonal ones; 0 where a mass is not damped, ∞ without mass."""
    K, M = np.diag([3.0, 5.0]), np.diag([2.0, 4.0])
    assert largest_rate(K, M) == pytest.approx(2.5)
    skew = np.array([[0.0, 7.0], [-7.0, 0.0]])
    assert largest_rate(K + skew, M) == pytest.approx(2.5)
    assert largest_rate(np.diag([0.0, 5.0]), M) == 0.0 == largest_rate(np.diag([-1.0, 5.0]), M)
    assert largest_rate(K, 0 * M) == np.inf
    assert largest_rate(np.diag([3.0, -9.0]), np.diag([2.0, 0.0])) == pytest.approx(3.0)
    assert certified_rate(K, M) == (pytest.approx(2.5 * (1 - 1e-9), rel=1e-12), True)
    assert certified_rate(K, 0 * M) == (np.inf, True)
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    assert largest_rate(turn @ K @ turn.T, turn @ M @ turn.T) == pytest.approx(2.5)
