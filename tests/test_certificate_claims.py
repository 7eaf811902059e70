"""Proofs as claims of a loop: what holds is proven and re-checked, planted faults are refused, counter-examples are such."""

import inspect
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import get_args

import casadi as ca
import control
import numpy as np
import pytest

from controllers import LQR, PID
from plants import machine
from tests.small import Feedback, Linear, Wired
from workbench import (
    ClosedLoop,
    Delayed,
    Hold,
    Quantised,
    Sampled,
    Saturated,
    Scenario,
    Steps,
    simulate,
)
from workbench.cases.file import load, loads
from workbench.cases.form import kebab
from workbench.contract.errors import InputError
from workbench.verification import claims as C
from workbench.verification import run_claims
from workbench.verification.judge import default_claims, examine
from workbench.verification.linear.limited import unlimited
from workbench.verification.linear.limited_loop import limited
from workbench.verification.linear.loop import Point, point
from workbench.verification.regions.claims import check_region, reference
from workbench.verification.rigorous.claims import check_sector
from workbench.verification.rigorous.pictures import certificate_arrays
from workbench.verification.rigorous.recheck import recheck
from workbench.verification.run import Run
from workbench.verification.run import run as run_loop
from workbench.verification.verdict import STABILITY

EXAMPLES = Path(__file__).parents[1] / "examples"
ONE = Linear(
    A=((0.5,),), B=((1.0,),), C=((1.0,),), x0=(0.1,)
)  # |u| ≤ 1: attracted exactly for |x| < 2
STIFFER = {
    "K_p": (0.4,),
    "K_i": (2.0,),
    "K_v": (0.0087,),
    "feed": "gain",
    "damping": "none",
    "u_max": 5e-4,
}


@pytest.fixture(scope="module")
def actuator():
    return machine("ieha-published-linear").plant


def pid(plant, **changes):
    return PID(model=plant, **{**STIFFER, **changes})


def ran(loop, duration=0.05, **scenario):
    made = Scenario(duration=duration, **scenario)
    return Run(loop, made, simulate(loop, made, compiled=False))


def limited_feedback(plant=ONE, K=((1.3,),), limit=1.0, T=0.1):
    law = Saturated(Feedback(plant, K), -limit, limit)
    return ClosedLoop(plant, law if T is None else Sampled(law, T))


# ---- the law's text taken apart -------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "changes",
    [
        {"anti_windup": "back"},
        {"anti_windup": "none", "K_d": (0.003,)},
        {"anti_windup": "back", "K_d": (0.01,), "T_t": 0.03},
    ],
)
def test_flow_with_limits_is_that_of_the_loop(actuator, changes):
    loop = ClosedLoop(actuator, pid(actuator, **changes))
    own = limited(loop, point(actuator, {}), [2e-3, 0.01])
    rng, cut = np.random.default_rng(3), 0
    where = [[s.name for s in loop.states].index(n) for n in own.states]
    for _ in range(40):
        x = rng.normal(size=len(loop.states)) * 1e-3
        truth = np.array(loop.rhs(0.0, list(x), [0.0, 2e-3, 0.01]))[where]
        assert np.abs(own.next(x[where]) - truth).max() < 1e-10 * np.abs(truth).max()
        cut += abs((own.K @ x[where] + own.w)[0]) > 5e-4
    assert 5 < cut < 40


@pytest.mark.parametrize("delay", [0.0, 1e-3, 2.6e-3])
def test_samples_with_limits_are_those_of_the_run(actuator, delay):
    law = Sampled(pid(actuator), 2e-3)
    loop = ClosedLoop(actuator, Delayed(law, delay) if delay else law)
    start = {"Y": 7e-3, "v_2": 0.02}
    log = simulate(
        loop,
        Scenario(duration=0.2, reference=Hold("output", (1e-3,)), offset=start),
        compiled=False,
    )
    own = limited(loop, Point([0.0, 0.02, 0.0, 0.0, 7e-3], [0.0, 0.0], ""), [1e-3, 0.0])
    x, seen = own.start, {n: log.array(n) for n in ("v_1", "v_3", "Y")}
    for k in range(100):
        for n, values in seen.items():
            assert x[own.states.index(n)] == pytest.approx(values[k], rel=1e-6, abs=1e-9)
        x = own.next(x)
    assert np.mean(np.abs(log.array("X")) >= 5e-4 * (1 - 1e-9)) > 0.3


def test_memory_that_stays_or_that_nothing_reads_is_left_out(actuator):
    own = limited(
        ClosedLoop(actuator, Sampled(pid(actuator, K_i=(0.0,), anti_windup="none"), 1e-3)),
        point(actuator, {}),
    )
    assert own.states == ("v_1", "v_2", "v_3", "v_F", "Y") and own.constant == ("I_Y",)
    both = limited(
        ClosedLoop(actuator, Sampled(pid(actuator, K_i=(0.0,)), 1e-3)), point(actuator, {})
    )
    assert both.constant == ("I_Y",)  # back-calculation leaves it alone where there is no integral
    some = limited(
        ClosedLoop(actuator, Sampled(pid(actuator, K_i=(0.5,)), 1e-3)), point(actuator, {})
    )
    assert "I_Y" in some.states


def test_limits_are_found_however_they_are_written():
    x = ca.SX.sym("x", 2)
    same = [
        ca.fmin(ca.fmax(x[0], -1.5), 2.0),
        ca.fmax(ca.fmin(2.0, x[0]), -1.5),
        np.clip(x[0], -1.5, 2.0),
    ]
    for e in same:
        taken, limits, which = unlimited(x, ca.vertcat(e, x[1]))
        assert (
            (limits[0].low, limits[0].high) == (-1.5, 2.0)
            and len(limits) == 1
            and which == [0, None]
        )
        assert not ca.depends_on(ca.jacobian(taken, x), x)
    _, limits, which = unlimited(x, ca.vertcat(np.clip(np.clip(x[0], -1.0, 1.0), -3.0, 1.0)))
    assert len(limits) == 1 and which == [0]  # the outer one never acts
    for e in (
        ca.fmax(x[0], 0.0),
        ca.fmin(ca.fmax(x[0], -1.0), x[1]),
        np.clip(np.clip(x[0], -1.0, 1.0), -0.5, 3.0),
        x[0] * np.clip(x[1], -1.0, 1.0),
        np.abs(x[0]),
    ):
        taken, limits, _ = unlimited(x, ca.vertcat(e))
        whole = ca.vertcat(x, *[one.ψ for one in limits])
        assert ca.depends_on(ca.jacobian(taken, whole), whole), e


@dataclass(frozen=True)
class Held(Wired):
    """A law with a fold of its own: u = −2y + ½|y|."""

    def command(self, t, z, y, r):
        return [-2.0 * y[0] + 0.5 * np.abs(y[0])]


def test_laws_that_switch_otherwise_are_refused(actuator):
    states = replace(actuator, measured="states")
    lqr = LQR.design(states, 1.0, 1e3, 1e-3, tracked=("Y",), integral=10.0, u_max=5e-4)
    refused = [
        ClosedLoop(actuator, Sampled(pid(actuator, anti_windup="clamp"), 1e-3)),
        ClosedLoop(states, Sampled(lqr, 1e-3)),
        ClosedLoop(actuator, Sampled(Quantised(pid(actuator), 1e-6), 1e-3)),
        ClosedLoop(ONE, Sampled(Held(ONE), 0.1)),
        ClosedLoop(actuator, Sampled(Saturated(pid(actuator), -2e-4, 2e-4), 1e-3)),
        ClosedLoop(actuator, Sampled(pid(actuator, u_max=6e-4), 1e-3)),
        ClosedLoop(actuator, Sampled(lambda t, y, r: [0.0], 1e-3)),
    ]
    for loop in refused:
        with pytest.raises(InputError):
            limited(loop, point(loop.plant, {}))
        if not loop.hosted:
            assert check_region(C.RegionOfAttraction(), ran(loop, 0.02)).holds is None


def test_a_plants_own_limit_is_taken_where_the_law_has_none(actuator):
    states = replace(actuator, measured="states")
    loop = ClosedLoop(states, Sampled(LQR.design(states, 1.0, 1e3, 1e-3, tracked=("Y",)), 1e-3))
    own = limited(loop, point(states, {}))
    assert own.beyond == ("X",) and own.high == pytest.approx([5e-4])
    v = check_region(C.RegionOfAttraction(), ran(loop))
    assert v.holds and any("the plant takes" in a.text for a in v.assumptions)


# ---- regions ---------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("T", [None, 0.1, 0.4])
def test_scalar_region_reaches_its_true_edge_and_not_beyond(T):
    run = ran(limited_feedback(T=T), 2.0)
    size = check_region(C.RegionOfAttraction(), run)
    assert (
        size.holds and size.strength == "proof" and size.unit == "1" and 1.99 < size.margin <= 2.0
    )
    inside = check_region(C.RegionOfAttraction(contains={"x0": 1.98}), run)
    assert inside.holds and 0 < inside.margin < 0.0102 and recheck(inside.data["certificate"])[0]
    out = check_region(C.RegionOfAttraction(contains=({"x0": 0.5}, {"x0": -2.02})), run)
    assert out.holds is (None if T is None else False) and "x0 = -2.02" in out.worst
    tight = check_region(
        C.RegionOfAttraction(contains={"x0": 1.98}), ran(limited_feedback(T=T, limit=0.9), 2.0)
    )
    assert tight.holds is not True


def test_wrong_sign_and_loops_at_their_limit_are_no_regions():
    v = check_region(C.RegionOfAttraction(), ran(limited_feedback(K=((-1.3,),)), 0.5))
    assert v.holds is False and v.strength == "numerical"
    still = Linear(A=((-1.0,),), B=((1.0,),), C=((1.0,),), x0=(0.0,))
    law = Saturated(Feedback(still, ((1.0,),), ((3.0,),)), -1.0, 1.0)
    loop = ClosedLoop(still, Sampled(law, 0.1))
    at = lambda r: check_region(
        C.RegionOfAttraction(), ran(loop, 1.0, reference=Hold("output", (r,)))
    )
    assert at(0.5).holds is True  # at rest u = y = 0.75
    assert at(0.9).holds is None and "at its limit" in at(0.9).worst
    assert at(0.5).data["centre"] == pytest.approx([0.75])


def test_a_region_is_measured_along_the_direction_that_is_stated():
    """One state or several: as often as the direction fits until xᵀPx = 1; the margin is that of the first state."""
    plant = Linear(
        ((0.5, 0.2), (0.0, -1.0)), ((1.0,), (0.3,)), ((1.0, 0.0), (0.0, 1.0)), x0=(0.01, 0.01)
    )
    law = Saturated(Feedback(plant, ((1.6, 0.0),)), -1.0, 1.0)
    run = ran(ClosedLoop(plant, Sampled(law, 0.1)), 0.5)
    for along, words in (
        ({"x1": 0.5}, "x1 off by up to"),
        ({"x0": 0.5, "x1": -0.2}, "times the direction stated"),
    ):
        found = check_region(C.RegionOfAttraction(along=along), run)
        assert found.holds and words in found.worst
        way = np.array([along.get("x0", 0.0), along["x1"]])
        times = 1 / np.sqrt(way @ np.array(found.data["P"]) @ way)
        assert found.margin == pytest.approx(0.5 * times, rel=1e-6)  # of the first one named


def test_every_start_on_the_edge_comes_to_rest(actuator):
    loop = ClosedLoop(actuator, Sampled(pid(actuator), 2e-3))
    run = ran(loop, reference=Hold("output", (2e-3,)))
    v = check_region(C.RegionOfAttraction(along={"Y": "1 mm"}), run)
    assert v.holds and v.unit == "m" and v.margin > 0.05 and recheck(v.data["certificate"])[0]
    own = limited(loop, point(actuator, {}), [2e-3, 0.0])
    P, centre = np.array(v.data["P"]), np.array(v.data["centre"])
    rng = np.random.default_rng(5)
    for _ in range(6):
        d = np.linalg.solve(
            np.linalg.cholesky(P).T, (lambda e: e / np.linalg.norm(e))(rng.normal(size=len(P)))
        )
        x, V = centre + d, [1.0]
        for _ in range(4000):
            x = own.next(x)
            V.append((x - centre) @ P @ (x - centre))
        assert (np.diff(V) < 1e-12).all() and V[-1] < 1e-6
    wider = check_region(
        C.RegionOfAttraction(),
        ran(ClosedLoop(actuator, Sampled(pid(actuator, anti_windup="none"), 2e-3))),
    )
    assert 0 < wider.margin < v.margin / 3  # windup shrinks it


def test_exported_regions_are_rechecked_and_tampering_is_refused():
    v = check_region(C.RegionOfAttraction(contains={"x0": 1.9}), ran(limited_feedback(), 0.5))
    own, more = (
        v.data["certificate"],
        lambda rows, k: [[(float.fromhex(e) * k).hex() for e in row] for row in rows],
    )
    assert recheck(own) == (
        True,
        "every start with xᵀPx ≤ 1 goes to rest; 1 named states are inside",
    )
    for part, k in (
        ("P", 0.98),
        ("P", -1.0),
        ("limit", 0.9),
        ("tau", -1.0),
        ("K", -1.0),
        ("A", 1.5),
        ("B", -1.0),
        ("G", 0.0),
        ("inside", 1.2),
    ):
        assert not recheck({**own, part: more(own[part], k)})[0], (part, k)
    assert not recheck({**own, "time": "continuous"})[0] and not recheck({**own, "time": "both"})[0]


def test_a_nonlinear_plant_gets_no_region(two_joint):
    loop = ClosedLoop(two_joint, Sampled(PID(model=two_joint), 1e-3))
    found = check_region(
        C.RegionOfAttraction(along={"q_1": 1.0}), Run(loop, Scenario(duration=0.01), None)
    )
    assert found.holds is None and "not linear" in found.worst


# ---- sectors ---------------------------------------------------------------------------------------------------------------
THIRD = control.ss(
    control.tf([1.0], [1.0, 3.0, 3.0, 1.0])
)  # 1/(s + 1)³: circle 4, Popov and every linear gain 8
PLANT = Linear(
    A=tuple(map(tuple, THIRD.A)), B=tuple(map(tuple, THIRD.B)), C=tuple(map(tuple, THIRD.C))
)


def sector(T=None, K=1.0, plant=PLANT, limit=None, **claim):
    law = Feedback(plant, ((K,),))
    law = law if limit is None else Saturated(law, -limit, limit)
    loop = ClosedLoop(plant, law if T is None else Sampled(law, T))
    return check_sector(C.Sector(**claim), Run(loop, Scenario(duration=0.1), None))


def test_continuous_sector_takes_the_criterion_that_proves_it():
    inside = sector(low=0.0, high=3.9)
    assert (
        inside.holds and inside.data["criterion"] == "circle" and 3.9 < inside.data["widest"] < 4.0
    )
    assert (
        inside.margin == pytest.approx(inside.data["widest"] - 3.9)
        and recheck(inside.data["certificate"])[0]
    )
    wide = sector(low=0.0, high=7.8)
    assert (
        wide.holds
        and wide.data["criterion"] == "popov"
        and any("time" in a.text for a in wide.assumptions)
    )
    assert sector(low=0.0, high=7.8, criterion="circle").holds is None
    assert sector(low=0.0, high=8.1).holds is False
    assert sector(low=0.5, high=1.5, K=-3.0).holds is False  # wrong sign


@pytest.mark.filterwarnings("ignore:stability_margins")
def test_sampled_sector_needs_the_slope_for_jury_lee():
    edge = 6.2409158781974985  # gain margin of the sampled loop, by python-control
    assert control.margin(control.c2d(THIRD, 0.2))[0] == pytest.approx(edge, rel=1e-6)
    assert sector(0.2, low=0.0, high=3.0).data["criterion"] == "circle"
    blind = sector(0.2, low=0.0, high=5.5)
    assert blind.holds is None and "slope" in blind.worst
    seen = sector(0.2, low=0.0, high=5.5, slope=5.5)
    assert (
        seen.holds and seen.data["criterion"] == "jury-lee" and recheck(seen.data["certificate"])[0]
    )
    assert seen.data["widest"] < edge
    assert sector(0.2, low=0.0, high=6.3, slope=6.3).holds is False
    with pytest.raises(InputError, match="continuous"):
        sector(0.2, criterion="popov")
    with pytest.raises(InputError, match="slope"):
        sector(0.2, criterion="jury-lee")


@pytest.mark.parametrize("T", [None, 0.2])
def test_a_limit_is_a_sector_of_its_own(T):
    v = sector(T, K=2.0, limit=0.7, place="limit", low=0.0, high=1.0)
    assert v.holds and not any("before its limit" in a.text for a in v.assumptions)
    some = sector(T, K=2.0, limit=0.7, place="limit", low=0.25, high=1.0)
    assert some.holds and any("4 times the limit" in a.text for a in some.assumptions)
    assert (
        sector(T, K=2.0, plant=ONE, limit=0.7, place="limit", low=0.0, high=1.0).holds is not True
    )  # unstable without u
    assert sector(T, K=2.0, place="limit", low=0.0, high=1.0).holds is None  # there is none


def test_channels_are_chosen_by_name_and_the_frequency_response_is_the_loops():
    two = Linear(
        A=((-1.0, 0.4), (0.3, -2.0)), B=((1.0, 0.2), (0.1, 1.5)), C=((1.0, 0.0), (0.0, 1.0))
    )
    loop = ClosedLoop(two, Feedback(two, ((2.0, 0.1), (0.0, 3.0))))
    run = Run(loop, Scenario(duration=0.1), None)
    both, one = (check_sector(C.Sector(low=0.2, high=1.9, commands=c), run) for c in ((), ("u1",)))
    assert both.holds and one.holds and both.data["response"] is None
    ω, G = one.data["response"]
    A, B, K = np.array(two.A), np.array(two.B), np.array([[2.0, 0.1], [0.0, 3.0]])
    own = A - B[:, [0]] @ K[[0]]
    assert G[7] == pytest.approx(
        (K[[1]] @ np.linalg.solve(1j * ω[7] * np.eye(2) - own, B[:, [1]]))[0, 0], rel=1e-9
    )
    with pytest.raises(InputError, match="u_7"):
        check_sector(C.Sector(commands=("u_7",)), run)
    for wrong in (
        dict(low=1.0, high=1.0),
        dict(place="limit", low=0.1, high=0.9),
        dict(low=0.1, high=2.0, slope=1.5),
    ):
        with pytest.raises(ValueError):
            C.Sector(**wrong)


# ---- pictures, tables, defaults ---------------------------------------------------------------------------------------------
def test_regions_are_drawn_where_they_are(monkeypatch):
    monkeypatch.setattr("workbench.numerics.c_code.library", lambda source: None)
    case = load(EXAMPLES / "ieha-certificates.yaml")
    keep = (C.RegionOfAttraction, C.Sector, C.Supplied)
    found = examine(
        case.loop, replace(case.scenario, duration=0.2), [c for c in case.claims if type(c) in keep]
    )
    shadow, cut = found.analysis["region"]
    P = np.array(found.verdicts[0].data["P"])
    Q = np.linalg.inv(P)
    assert (shadow["x"], shadow["y"], shadow["unit_y"], shadow["kind"]) == (
        "Y",
        "v_3",
        "m/s",
        "projection",
    )
    assert shadow["boundary"][:, 0].max() == pytest.approx(np.sqrt(Q[4, 4]), rel=1e-3)
    assert shadow["boundary"][:, 1].max() == pytest.approx(np.sqrt(Q[2, 2]), rel=1e-3)
    assert shadow["path"].shape == (201, 2) and shadow["box"] is None
    data = found.verdicts[2].data
    V = lambda a, b: eval(
        data["V"], {}, {**dict.fromkeys(data["box"], 0.0), cut["x"]: a, cut["y"]: b}
    )
    assert cut["kind"] == "section" and cut["box"] == (
        tuple(data["box"]["Y"]),
        tuple(data["box"]["v_3"]),
    )
    assert [V(a, b) for a, b in cut["boundary"]] == pytest.approx(
        [data["level"]] * len(cut["boundary"]), rel=1e-3
    )
    drawn = found.analysis["sector"]
    assert (
        drawn["k"] == (0.5, 2.0)
        and drawn["criterion"] == "circle"
        and drawn["ω"].shape == drawn["G"].shape
    )
    assert "response" not in found.verdicts[1].data and certificate_arrays(found.run, []) == {}


def test_every_claim_names_its_check_and_what_that_takes():
    known = {"allowed", "bounded", "claims", "foundation", "tick"}
    for claim in get_args(C.Claim):
        module, _, function = claim.check.rpartition(".")
        check = getattr(import_module(f"workbench.verification.{module}"), function)
        wanted = list(inspect.signature(check).parameters.values())
        first = 2 + len(claim.takes)
        assert [p.name for p in wanted[:2]] == ["claim", "run"] and len(wanted) >= first
        assert all(p.default is not p.empty for p in wanted[first:])
        assert set(claim.takes) <= known and ("tick" in claim.takes or claim.work <= 2)


def test_keys_that_say_stable_are_those_of_the_claims():
    assert set(STABILITY) == {kebab(c.__name__) for c in get_args(C.Claim) if c.says_stable}


def test_regions_are_asked_by_default_as_information_where_they_make_sense(actuator):
    asked = lambda law, plant=actuator: [
        c for c in default_claims(ClosedLoop(plant, law)) if isinstance(c, C.RegionOfAttraction)
    ]
    assert [c.counted for c in asked(Sampled(pid(actuator), 1e-3))] == [False]
    assert asked(Sampled(pid(actuator, anti_windup="clamp"), 1e-3)) == []
    assert asked(Feedback(PLANT, ((1.0,),)), PLANT) == []  # no limits


# ---- what else was mended ---------------------------------------------------------------------------------------------------
def test_linear_speaks_of_predictive_loops():
    from workbench.verification.linear.claims import check_linear_stability
    from workbench.verification.linear.local_claim import check_linear

    case = load(EXAMPLES / "linear-mpc.yaml")
    run = Run(case.loop, case.scenario, simulate(case.loop, replace(case.scenario, duration=0.01)))
    v, other = (
        check_linear(C.Linear(gain=1.2, phase=0.3), run),
        check_linear_stability(C.LinearStability(), run),
    )
    assert v.holds is True and v.data["margins"][0]["phase"] == pytest.approx(
        other.data["margins"][0]["phase"], rel=1e-9
    )
    assert check_linear(C.Linear(gain=50.0), run).holds is False
    assert (
        check_linear(
            C.Linear(),
            Run(
                ClosedLoop(case.plant, Sampled(lambda t, y, r: [0.0], 1e-3)), case.scenario, run.log
            ),
        ).holds
        is None
    )


@pytest.mark.parametrize("anti_windup", ["back", "clamp"])
def test_linear_stability_of_a_continuous_law_is_that_of_its_flow(actuator, anti_windup):
    from workbench.verification.linear.claims import check_linear_stability

    law = pid(actuator, K_d=(0.004,), anti_windup=anti_windup)
    v = check_linear_stability(C.LinearStability(), ran(ClosedLoop(actuator, law)))
    K_p, K_i, K_d, τ, p = 0.4, 2.0, 0.004, law.τ, actuator
    s = control.tf("s")
    L = (
        (K_p + K_i / s + K_d * s / (τ * s + 1))
        * p.K
        / (s * (p.λ_1 * s + 1) * (p.λ_2 * s + 1) * (p.λ_3 * s + 1))
    )
    poles = control.feedback(control.minreal(L, verbose=False)).poles()
    assert v.holds and v.strength == "proof" and recheck(v.data["certificate"])[0]
    for pole in poles:
        assert np.abs(v.data["eigenvalues"] - pole).min() < 1e-4 * abs(pole)
    assert v.data["margins"][0]["gain_up"] == pytest.approx(control.margin(L)[0], rel=1e-5)
    wild = check_linear_stability(
        C.LinearStability(), ran(ClosedLoop(actuator, pid(actuator, K_p=(9.0,))))
    )
    assert wild.holds is False and wild.strength == "numerical"


def test_pressure_limits_may_be_gauge(monkeypatch):
    monkeypatch.setattr("workbench.numerics.c_code.library", lambda source: None)
    case = loads(
        "plant: ieha-control\nclaims: {pressures: {low: -1 bar, high: 2 kbar}}\nscenario: {duration: 0.02 s}\n"
    )
    claim = next(c for c in case.claims if isinstance(c, run_claims.Pressures))
    assert (claim.low, claim.high) == (-1e5, 2e8)
    found = examine(
        case.loop, case.scenario, [claim, replace(claim, low=1e8), run_claims.Pressures(low=-1e5)]
    )
    assert [v.holds for v in found.verdicts] == [
        True,
        False,
        True,
    ] and "always (p_lowest >= -1 bar and p_highest <= 200 MPa)" in found.verdicts[0].claim
    with pytest.raises(ValueError, match="not below high"):
        run_claims.Pressures(low=3e5, high=2e5)


def test_the_floor_of_oscillations_has_the_unit_of_what_oscillates(actuator, tmp_path):
    from workbench.commands.cli import main

    floor = lambda text: next(
        c.floor for c in loads(text).claims if isinstance(c, run_claims.Settled)
    )
    assert floor(
        "plant: ieha-published-linear\nclaims: {settled: {floor: 3 um}}\n"
    ) == pytest.approx(3e-6)
    assert floor("plant: hiab-xs031\nclaims: {settled: {floor: 0.2 deg}}\n") == pytest.approx(
        np.radians(0.2)
    )
    path = tmp_path / "new.yaml"
    assert main(["init", "ieha-published-linear", "-o", str(path)]) == 0
    line = next(line for line in path.read_text().splitlines() if "settled" in line)
    assert "m," in line and "rad" not in line


@pytest.mark.parametrize("second, still", [(0.1, True), (0.4, False)])
def test_a_region_is_asked_at_the_reference_where_it_stands_still(second, still):
    plant = Linear(((-1.0,),), ((1.0,),), ((1.0,),), x0=(0.1,))
    loop = ClosedLoop(plant, Feedback(plant, ((0.5,),), ((1.0,),)))
    path = Steps("output", (0.0, 0.3), (0.1, second))
    assert reference(run_loop(loop, Scenario(reference=path, duration=0.6))) == ([0.1], still)


def test_a_command_at_the_operating_point_is_part_of_the_loop(actuator):
    """A law that adds u_0 to its command drives the loop away from x_0: sample by sample as the run does."""
    plant = replace(actuator, measured="states")
    law = LQR.design(plant, [1.0, 1.0, 1.0, 1.0, 1e6], [1e6], T_s=2e-3, tracked=("Y",))
    pushed = replace(law, u_0=(5e-5,))
    loop = ClosedLoop(plant, Sampled(pushed, 2e-3))
    log = simulate(loop, Scenario(duration=0.1, reference=Hold("output", (1e-4,))), compiled=False)
    assert np.abs(log.array("X")).max() < 5e-4  # within the plant's own limit
    own = limited(loop, point(plant, {}), [1e-4])
    x = own.start
    for k in range(50):
        assert x[own.states.index("Y")] == pytest.approx(log.array("Y")[k], rel=1e-6, abs=1e-10)
        x = own.next(x)
    still = limited(ClosedLoop(plant, Sampled(law, 2e-3)), point(plant, {}), [1e-4])
    assert np.abs(own.o - still.o).max() > 0
