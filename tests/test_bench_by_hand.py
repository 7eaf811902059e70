"""What a search by runs makes of what its runs showed: excesses, scenarios and points by hand; and the cost of a predictive law."""

import math
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest

from controllers.gain_search import judged as module
from controllers.gain_search.judged import Bench, limit_of
from controllers.gain_search.knobs import Knob
from controllers.gain_search.point import Point
from controllers.mpc.cost import Stage, root, stage_costs, stage_form, terms, weighed
from workbench import Hold, Scenario
from workbench.contract.errors import InputError
from workbench.verification.claims import DelayLimit, SampleTimeLimit, Settled
from workbench.verification.practical.limits.scanned import Outcome
from workbench.verification.run_claims import Tracking

TRACKING = Tracking(error=0.02, settle=4.0)


def bench(claims=(TRACKING,), duration=60.0, **other):
    scenario = Scenario(duration, Hold("output", (0.0,)), log_period=0.5)
    given = {"wish": None, "loop": None, "scenario": scenario, "claims": claims, "knobs": ()}
    given |= {"rungs": "ladder", "judge": lambda run: Outcome(True, 0, 0, ""), "tick": lambda: None}
    return Bench(**given | other)


def point(error=2.0, bears=0.04, violated=(), **other):
    return Point((0.0,), {}, error, 3.0, bears, violated, **other)


# ---- by how much it is missed ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "one, excess",
    [
        (point(), 0.0),
        (point(violated=("a", "b")), 2.0),
        (point(bears=0.01), 2.0),
        (point(bears=0.0), math.log2(1000)),
        (point(error=12.0), 2.0),
        (point(error=3.3), math.log2(1.1)),
        (point(error=3.0 * (1 + 1e-10)), 0.0),
        (point(bears=0.036), -math.log2(0.9)),
        (point(bears=0.04 * (1 - 1e-10)), 0.0),
        (point(error=3.0), 0.0),
        (point(error=12.0, bears=0.02, violated=("a",)), 4.0),
        (point(error=math.inf), math.inf),
    ],
)
def test_the_excess_of_a_point(one, excess):
    """A whole one for each claim, octaves below 0.04 s that must be borne, octaves above an error of 3."""
    found = bench(floor=0.04, ceiling=3.0).asked_of(one)
    assert found.excess == pytest.approx(excess) and found.kept is (excess == 0)
    assert replace(found, excess=0.0) == one


def test_what_was_not_asked_is_not_missed():
    free = bench()
    assert free.asked_of(point(error=1e9, bears=0.0)).excess == 0
    assert free.asked_of(point(error=math.nan)).excess == math.inf


@pytest.mark.parametrize(
    "settles, duration, length",
    [
        ((4.0,), 60.0, 12.0),
        ((1.0,), 60.0, 10.0),
        ((), 60.0, 10.0),
        ((4.0, 9.0), 60.0, 27.0),
        ((4.0,), 7.0, 7.0),
    ],
)
def test_the_beginning_contains_the_time_in_which_the_loop_settles(settles, duration, length):
    claims = (Settled(), *(replace(TRACKING, settle=s) for s in settles))
    found = bench(claims, duration).begins
    assert found.length() == length and found.log_period is None


# ---- points --------------------------------------------------------------------------------------------------------------------
LAW = SimpleNamespace(K=5.0, λ=(1.0, 2.0))


@pytest.fixture
def tried(monkeypatch):
    """What is run and climbed: a loop is the octaves it was turned by; 9 octaves are refused, 8 violate, 7 end early."""
    told = SimpleNamespace(runs=[], borne=[], climbed=[])

    def turned(loop, knobs, octaves):
        if octaves == (9.0,):
            raise ValueError("no such gains")
        return SimpleNamespace(octaves=octaves, hosted=octaves == (6.0,))

    def run_many(jobs, look, tick):
        told.runs += [(loop.octaves, scenario.length()) for loop, scenario in jobs]
        return [look(loop) for loop, _ in jobs]

    def seen(self, loop):
        (octave,) = loop.octaves
        if octave == 7.0:
            return math.inf, math.inf, ("ended",)
        return octave, 10 * octave, ("late",) if octave == 8.0 else ()

    def borne(rungs, loops, scenario, judge, tick, near):
        told.borne.append(([loop.octaves for loop in loops], scenario.length(), near))
        return [0.1 * loop.octaves[0] for loop in loops]

    def climbed(rungs, loop, scenario, judge, tick, beside):
        told.climbed.append((loop.octaves, scenario.length(), beside))
        return 0.77

    monkeypatch.setattr(module, "turned", turned)
    monkeypatch.setattr(module, "run_many", run_many)
    monkeypatch.setattr(module, "borne", borne)
    monkeypatch.setattr(module, "climbed", climbed)
    monkeypatch.setattr(module, "law_of", lambda loop: LAW)
    monkeypatch.setattr(Bench, "_seen", seen)
    return told


def test_points_of_many_gains(tried):
    """What the law refuses is not run, what violates a claim is not climbed; the others bear what was found of them."""
    found = bench(knobs=(Knob("K"), Knob("λ", 1)), near=0.03, loop="loop").points(
        [(1.0,), (9.0,), (8.0,), (2.0,), (7.0,)]
    )
    assert tried.runs == [((k,), 12.0) for k in (1.0, 8.0, 2.0, 7.0)]
    assert tried.borne == [([(1.0,), (2.0,)], 12.0, 0.03)]
    assert [p.error for p in found] == [1.0, math.inf, 8.0, 2.0, math.inf]
    assert [p.largest for p in found] == [10.0, math.inf, 80.0, 20.0, math.inf]
    assert [p.bears for p in found] == pytest.approx([0.1, 0.0, 0.0, 0.2, 0.0])
    assert [p.violated for p in found] == [
        (),
        ("the law refuses such gains",),
        ("late",),
        (),
        ("ended",),
    ]
    assert [p.excess for p in found] == [0.0, math.inf, 1.0, 0.0, math.inf]
    assert found[0].gains == {"K": 5.0, "λ": (1.0, 2.0)} and not any(p.whole for p in found)


def test_a_point_over_the_whole_scenario(tried):
    """Every rung of a loop that is compiled, by bisection of one called from Python; nothing of one that ends early."""
    one = bench((TRACKING,), near=0.03)
    found = one.whole(replace(point(), octaves=(3.0,)), 2)
    assert (found.error, found.largest, found.bears, found.whole) == (3.0, 30.0, 0.77, True)
    assert tried.runs == [((3.0,), 60.0)] and tried.climbed == [((3.0,), 60.0, 2)]
    hosted = one.whole(replace(point(), octaves=(6.0,)), 2)
    assert hosted.bears == pytest.approx(0.6) and tried.borne == [([(6.0,)], 60.0, 0.03)]
    ended = one.whole(replace(point(), octaves=(7.0,)), 2)
    assert ended.bears == 0.0 and ended.excess == math.inf and len(tried.climbed) == 1


@pytest.mark.parametrize(
    "holds, counted", [(True, True), (None, True), (False, True), (False, False)]
)
def test_a_whole_run_has_to_settle_where_that_is_asked(tried, monkeypatch, holds, counted):
    verdict = SimpleNamespace(holds=holds, worst="it swings")
    monkeypatch.setattr(module, "check_settled", lambda claim, run: verdict)
    one = bench((TRACKING, replace(Settled(), counted=counted)))
    found = one.whole(replace(point(), octaves=(8.0,)), 2)
    told = counted and not holds
    assert found.violated == (("late", "settled: it swings") if told else ("late",))
    assert one.whole(replace(point(), octaves=(7.0,)), 2).violated == ("ended",)


# ---- what a run showed ----------------------------------------------------------------------------------------------------------
def a_run(e=(3.0, -4.0, 1.0, 2.0), completed=True, left=""):
    status = SimpleNamespace(completed=completed, message="diverged")
    error = None if e is None else np.array(e)
    return SimpleNamespace(
        log=SimpleNamespace(status=status, time=np.arange(4.0)),
        left=(math.inf, left),
        tool_error=error,
        settled=lambda settle: np.arange(4.0) >= settle,
    )


def verdict(holds, counted=True, key="k"):
    return SimpleNamespace(holds=holds, counted=counted, key=key, worst="so")


def test_what_a_run_showed(monkeypatch):
    asked = [verdict(True), verdict(False), verdict(False, counted=False), verdict(None)]
    monkeypatch.setattr(module, "requirements", lambda claims: claims)
    monkeypatch.setattr(module, "verdicts", lambda claims, run: asked)
    monkeypatch.setattr(module, "rms", lambda time, e: float(np.abs(e).sum()))
    claims = (replace(TRACKING, settle=2.0), replace(TRACKING, settle=1.0))
    one = bench(claims, judge=lambda run: Outcome(False, 0, 0, "it swings"))
    assert one._seen(a_run()) == (10.0, 2.0, ("k: so",))
    asked[:] = [verdict(True)]
    assert one._seen(a_run()) == (10.0, 2.0, ("it swings",))
    assert bench(())._seen(a_run()) == (10.0, 4.0, ())
    ended = one._seen(a_run(completed=False))
    assert ended == (math.inf, math.inf, ("diverged",))
    assert one._seen(a_run(left="x leaves"))[2] == ("x leaves",)
    with pytest.raises(InputError, match="reference"):
        one._seen(a_run(None))


def test_the_claim_that_says_how_much_is_borne():
    """The case's own, else one with ten times the error allowed, or 50 mm where nobody says."""
    delay, sample = DelayLimit(error=0.3), SampleTimeLimit(error=0.4)
    claims = (TRACKING, delay, sample)
    assert (
        limit_of(claims, "delay", "m") is delay and limit_of(claims, "sample time", "m") is sample
    )
    assert limit_of((sample, TRACKING), "delay", "m") == DelayLimit(error=10 * 0.02)
    assert limit_of((), "sample time", "m") == SampleTimeLimit(error=50e-3)


# ---- the cost of a predictive law --------------------------------------------------------------------------------------------
@dataclass
class Model:
    B: np.ndarray
    C: np.ndarray


def problem(R=(0.5, 0.0), P=None):
    """Two states, two commands; outputs 2 and 0 of three are tracked."""
    C = np.array([[1.0, 2.0], [9.0, 9.0], [0.5, -1.0]])
    model = Model(np.array([[1.0, 0.2], [0.3, 1.0]]), C)
    weights = {"Q": np.array([[2.0, 0.3], [0.3, 1.0]]), "R": np.diag(R), "S": np.diag([0.7, 0.9])}
    return SimpleNamespace(model=model, track=(2, 0), N=3, P=P, **weights)


@pytest.mark.parametrize("R, letters", [((0.5, 0.2), "QSR"), ((0.0, 0.0), "QS")])
def test_the_cost_of_a_sample_is_a_form_in_states_and_commands(R, letters):
    """ξᵀQξ + 2 ξᵀS u + uᵀR u at random ξ = (x, u₋₁) and u is |C x|²_Q + |u|²_R + |u − u₋₁|²_S."""
    q = problem(R)
    assert "".join(weighed(q, Stage(1, 2, 3))) == letters
    Q, R_, S = stage_form(q)
    rng = np.random.default_rng(4)
    for _ in range(5):
        x, before, u = rng.normal(size=(3, 2))
        ξ = np.concatenate([x, before])
        y = np.array([0.5 * x[0] - x[1], x[0] + 2 * x[1]])
        move = u - before
        cost = y @ q.Q @ y + u @ q.R @ u + move @ q.S @ move
        assert ξ @ Q @ ξ + 2 * ξ @ S @ u + u @ R_ @ u == pytest.approx(cost)


def test_the_cost_along_a_run():
    """From u₋₁ = 0; errors from r, commands from u_s."""
    q = problem()
    y, r = np.array([[1.0, 2.0], [0.0, -1.0]]), np.array([0.5, 1.0])
    u, u_s = np.array([[1.0, 3.0], [2.0, -1.0]]), np.array([0.4, 0.6])
    expected = []
    before = np.zeros(2)
    for k in range(2):
        e, w, m = y[k] - r, u[k] - u_s, u[k] - before
        expected.append(e @ q.Q @ e + w @ q.R @ w + m @ q.S @ m)
        before = u[k]
    assert stage_costs(q, y, r, u, u_s) == pytest.approx(expected)
    q.R = 0 * q.R
    assert stage_costs(q, y, r, u, u_s) == pytest.approx(
        [v - (u[k] - u_s) @ np.diag([0.5, 0.0]) @ (u[k] - u_s) for k, v in enumerate(expected)]
    )


@pytest.mark.parametrize("P, last", [(None, ("Q", "e_N")), ("weight", ("P", "end"))])
def test_squares_of_the_whole_horizon(P, last):
    q = problem(P=P)
    stage = lambda k: Stage(f"e_{k}", f"u_{k}", f"m_{k}")
    found = [(letter, what) for letter, _, what in terms(q, stage, "e_N", lambda: "end")]
    own = [(letter, f"{name}_{k}") for k in range(3) for letter, name in zip("QSR", "emu")]
    assert found == [*own, last]


def test_a_root_of_a_weight_of_very_different_units():
    """FᵀF = M; a state that does not count has no row and no column."""
    own = np.array([[1.0, 0.5, 0.2, 0.0], [0.5, 1.0, -0.3, 0.0], [0.2, -0.3, 1.0, 0.0], [0.0] * 4])
    units = np.array([1e6, 1e-3, 1e2, 1.0])
    M = own * units * units[:, None]
    F = root(M)
    scale = np.sqrt(np.diag(M)) + (np.diag(M) == 0)
    assert (F.T @ F / scale / scale[:, None]) == pytest.approx(
        M / scale / scale[:, None], abs=1e-12
    )
    assert abs(root(np.array([[9.0]]))) == pytest.approx(3.0)
