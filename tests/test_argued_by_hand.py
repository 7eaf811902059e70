"""Claims on a predictive law along a run, case by case: what is lost, what is argued, which problems were not solved."""

from types import SimpleNamespace

import numpy as np
import pytest

from workbench.contract.plain import Plain
from workbench.contract.wrappers import Delayed, Sampled
from workbench.verification.predictive import claims as argued
from workbench.verification.predictive import local
from workbench.verification.predictive import run_claims as module
from workbench.verification.verdict import Verdict

CLAIM = SimpleNamespace(counted=True, share=0.0, floor=1e-3)
HOLDS = Verdict("k", "t", True, "proof", 0.5, "1", worst="as argued")


class Log(dict):
    array = dict.__getitem__

    def __init__(self, **given):
        super().__init__({name: np.array(v, float) for name, v in given.items()})
        count = len(next(iter(self.values()), [0.0, 0.0]))
        self.time = 0.1 * np.arange(count)
        self.status = SimpleNamespace(completed=True, message="gone")


def a_run(**signals):
    given = {
        "mpc_status": [1.0, 2.0, 1.0],
        "mpc_fallback": [0.0] * 3,
        "mpc_iterations": [4.0, 9.0, 5.0],
    }
    loop = SimpleNamespace(period=0.1, plant="plant")
    return SimpleNamespace(log=Log(**given | signals), loop=loop)


# ---- the argument ---------------------------------------------------------------------------------
def stability(monkeypatch, lost=(), terminal="set", observer=None, left=(), unmet=(), run=None):
    """The verdict on a law with these hypotheses lost; `left`: states that no command drives."""
    given = SimpleNamespace(lost=unmet)
    law = SimpleNamespace(
        follows=("y",),
        terminal=terminal,
        observer=observer,
        ingredients=lambda r, lost: (given, left),
    )
    cost, kept = (
        Verdict("c", "t", True, "proof", worst="cost"),
        Verdict("f", "t", True, "proof", worst="stays"),
    )
    monkeypatch.setattr(module, "predictive", lambda loop: law)
    monkeypatch.setattr(module, "cost_asked", lambda claim, loop: None)
    monkeypatch.setattr(module, "_lost", lambda run, law: ([0.0], list(lost)))
    monkeypatch.setattr(argued, "mpc_stability", lambda given: (cost, kept, HOLDS))
    near = Verdict("mpc-local", "near", True, "proof", worst="near the target")
    monkeypatch.setattr(local, "local_stability", lambda given: near)
    return module.check_mpc_stability(CLAIM, run or a_run())


def test_an_argument_whose_hypotheses_are_met_holds(monkeypatch):
    found = stability(monkeypatch)
    assert found.holds is True and found.worst == "as argued; stays"
    assert found.claim.startswith("from every feasible start, this run's among them")


@pytest.mark.parametrize("terminal", ["set", "cost"])
def test_an_argument_whose_hypotheses_are_not_met_is_none(monkeypatch, terminal):
    unmet = ("model = plant", "full state")
    found = stability(monkeypatch, unmet[:1], terminal, unmet=unmet)
    decides = "; terminal: set would meet it, else practical-stability decides"
    said = "the theorem's hypotheses that are not met: model = plant; full state"
    assert found.holds is None and found.worst == said + ("" if terminal == "set" else decides)
    assert [(a.text, a.holds) for a in found.assumptions] == [(t, False) for t in unmet]


def test_without_a_terminal_set_it_is_local_where_the_state_is_known(monkeypatch):
    found = stability(monkeypatch, terminal="cost")
    assert found.holds is True and found.claim == "near" and found.counted is True
    seen = stability(monkeypatch, terminal="cost", observer="one", unmet=("full state",))
    assert seen.holds is None and "full state" in seen.worst
    also = stability(monkeypatch, terminal="cost", unmet=("a convex cost",))
    assert also.holds is None and "a convex cost" in also.worst


def test_states_that_nothing_drives_have_to_rest(monkeypatch):
    still = stability(monkeypatch, left=("w",), run=a_run(w=[2.0, 2.0, 2.0]))
    assert still.holds is True
    assert [a.text for a in still.assumptions] == ["w at rest: nothing but itself drives it"]
    moves = stability(monkeypatch, left=("v", "w"), run=a_run(w=[2.0, 2.0, 2.1], v=[0.0] * 3))
    assert moves.holds is None and moves.worst.startswith("w moves although no command drives it")


@pytest.mark.parametrize(
    "status, fallback, why",
    [
        (1, 0, ""), (2, 0, ""), (-1, 0, "infeasible"), (-4, 1, "too many iterations"), (-5, 2, "not convex"),
        (7, 0, "status 7"), (1, 1, "last solution"), (2, 2, "terminal law"), (1, 3, "command held"), (1, 9, "fallback"),
    ],
)  # fmt: skip
def test_a_run_begins_where_its_first_problem_is_solved(status, fallback, why):
    run = a_run(mpc_status=[status, 1, 1], mpc_fallback=[fallback, 0, 0])
    found = module._begins_feasible(run, HOLDS)
    if not why:
        assert found is HOLDS
        return
    assert (
        found.holds is None
        and found.margin is None
        and f"problem is not solved ({why})" in found.worst
    )
    refuted = Verdict("k", "t", False, "numerical", worst="no")
    assert module._begins_feasible(run, refuted) is refuted


@pytest.mark.parametrize(
    "cost, kept, found, worst",
    [
        (True, True, True, "w; kept"), (False, True, None, "w; cost; kept"), (True, False, None, "w; cost; kept"),
        (True, None, None, "w"), (None, None, None, "w"), (True, True, False, "w"),
    ],
)  # fmt: skip
def test_what_an_argument_rests_on_is_told(cost, kept, found, worst):
    made = lambda holds, words: Verdict(
        words, "t", holds, None if holds is None else "proof", worst=words
    )
    said = module._argued((made(cost, "cost"), made(kept, "kept"), made(found, "w")), ())
    assert said.worst == worst and said.holds is found


# ---- what stands between law and plant ---------------------------------------------------------------
LATE = "the loop's delay is the one the controller predicts through"
BETWEEN = "nothing (filter, noise, rounding) between plant and controller"
CLOCK = "the loop's sample time is the controller's"


def around(*, inner=None, delay=None, law_delay=0.0, period=0.1, T_s=0.1):
    plain = object.__new__(Plain)
    sampler = object.__new__(Sampled)
    object.__setattr__(sampler, "inner", inner or plain)
    controller = sampler
    if delay is not None:
        controller = object.__new__(Delayed)
        object.__setattr__(controller, "inner", sampler)
        object.__setattr__(controller, "delay", delay)
    loop = SimpleNamespace(controller=controller, period=period)
    return module._around(loop, SimpleNamespace(delay=law_delay, T_s=T_s))


def test_what_an_argument_knows_nothing_of():
    assert around() == [] == around(delay=0.2, law_delay=0.2)
    assert around(delay=0.2) == around(law_delay=0.2) == around(delay=0.1, law_delay=0.2) == [LATE]
    assert around(inner=SimpleNamespace()) == [BETWEEN] and around(T_s=0.2) == [CLOCK]
    assert around(inner=SimpleNamespace(), delay=0.1, period=0.2) == [LATE, BETWEEN, CLOCK]


# ---- problems that were solved ---------------------------------------------------------------------------
def test_problems_that_were_not_solved_are_counted(monkeypatch):
    monkeypatch.setattr(module, "cost_asked", lambda claim, loop: None)
    monkeypatch.setattr(module, "predictive", lambda loop: None)
    sound = module.check_solves(CLAIM, a_run())
    assert sound.holds is True and sound.worst == "all 3 samples optimal, at most 9 iterations"
    assert (sound.margin, sound.limit, sound.data["samples"]) == (0.0, 0.0, 3)
    bad = a_run(mpc_status=[1.0, -1.0, -1.0, 2.0], mpc_fallback=[0.0, 1.0, 0.0, 3.0])
    found = module.check_solves(CLAIM, bad)
    assert found.holds is False and found.margin == pytest.approx(-0.75)
    told = "infeasible: 2, last solution: 1, command held: 1; the first at t = 0.1 s"
    assert found.worst == told and found.claim == "every sample solved to optimality"
    some = SimpleNamespace(counted=True, share=0.75)
    allowed = module.check_solves(some, bad)
    assert allowed.holds is True and allowed.claim.startswith("at most 75 % of the samples")
    bad.log.status.completed = False
    assert module.check_solves(some, bad).worst == "gone"


def decrease(monkeypatch, time=(0.0, 0.1, 0.2), model="plant", falls=True, why="", argued_so=True):
    asked = []

    def on_log(V, stage, said, lost, floor):
        asked.append((V.tolist(), stage.tolist(), said, lost.tolist(), floor))
        return Verdict("x", "y", falls, "sampled", 0.25, worst="least fall 2")

    signal = lambda name: SimpleNamespace(name=name)
    costs = lambda y, r, u: y[:, 0] + 10 * u[:, 0] + r
    law = SimpleNamespace(
        follows=[signal("y")], commands=[signal("u")], stage_costs=costs, model=model
    )
    monkeypatch.setattr(argued, "cost_on_log", on_log)
    monkeypatch.setattr(module, "predictive", lambda loop: law)
    monkeypatch.setattr(module, "cost_asked", lambda claim, loop: None)
    monkeypatch.setattr(module, "constant", lambda run: (100.0, why))
    monkeypatch.setattr(module, "digest", str)
    argument = Verdict("x", "y", argued_so, "proof" if argued_so else None, worst="no bound")
    monkeypatch.setattr(module, "check_mpc_stability", lambda claim, run: argument)
    run = a_run(
        y=[1.0, 2.0, 3.0],
        u=[7.0, 7.0, 7.0],
        u_held=[0.0, 1.0, 2.0],
        mpc_cost=[8.0, np.inf, 4.0],
        mpc_status=[1.0, 4.0, -7.0],
    )
    run.log.time = np.array(time)
    return module.check_cost_decrease(CLAIM, run), asked


def test_a_cost_falls_by_the_stage_cost(monkeypatch):
    found, ((V, stage, said, lost, floor),) = decrease(monkeypatch)
    assert V == [8.0, np.inf, 4.0] and stage == [101.0, 112.0, 123.0] and lost == [False] * 3
    assert said == ["optimal", "inaccurate", "-7"] and floor == pytest.approx(8e-3) == found.limit
    assert (found.key, found.holds) == ("cost-decrease", True)
    assert found.worst == "least fall 2; 3 samples, noise allowed 0.008"
    missed, _ = decrease(monkeypatch, falls=False)
    assert missed.holds is False
    unshown, _ = decrease(monkeypatch, falls=False, argued_so=None)
    assert unshown.holds is None and unshown.worst.startswith("the argument is not shown (no bound")
    other, _ = decrease(monkeypatch, falls=False, model="another")
    assert other.holds is None and other.worst.startswith("the model is not the plant, so that")


def test_a_cost_is_looked_at_sample_by_sample(monkeypatch):
    skipped, asked = decrease(monkeypatch, time=(0.0, 0.2, 0.4))
    assert skipped.holds is None and skipped.worst.startswith("every sample must be in the log")
    for off, holds in ((5e-11, True), (2e-10, None)):
        assert decrease(monkeypatch, time=(0.0, 0.1 + off, 0.2))[0].holds is holds
    brief, _ = decrease(monkeypatch, time=(0.0, 0.1))
    assert brief.worst == skipped.worst and asked == []
    moving, _ = decrease(monkeypatch, why="the reference is constant")
    assert moving.holds is None and moving.worst == "only where the reference is constant"
