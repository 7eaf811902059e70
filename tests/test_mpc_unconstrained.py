"""The predictive law as expressions: the same commands and memory while no limit is active, and when that is, from both sides."""

from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest
from actuator import Actuator, drawn, mpc

from controllers import Limit, Observer
from controllers.mpc.unconstrained import excesses, unconstrained
from workbench import ClosedLoop, Hold, Sampled, Scenario, Sine
from workbench.contract.errors import InputError
from workbench.contract.system import names
from workbench.verification import claims as C
from workbench.verification.run import run
from workbench.verification.tube.claim import check_tube
from workbench.verification.tube.expressed import check_same


@dataclass(frozen=True)
class Shown(Actuator):
    """What is measured is Y and a share of two velocities, beside a constant."""

    def out(self, t, x):
        return [x[4] + 0.02 * x[0] - 0.07 * x[2] + 1e-6]


MEASURED = Actuator(all_states=True)
LAWS = {
    "observer": mpc(),
    "states": mpc(MEASURED, observer=None, slew=(), limits=(Limit("Y", -2e-3, 3e-3),)),
    "delayed": mpc(delay=1.4e-3),
    "offset": mpc(Shown()),
    "terminal set": mpc(terminal="set", room=0.3, preview=0),
    "blocks": mpc(blocks=(1, 2, 3, 5), R=(3e5,), preview=3),
    "estimated load": mpc(
        observer=Observer(σ_y=(1e-6,), σ_d=(30.0,), disturbance=("F_ext",)), known=()
    ),
}


@pytest.fixture(params=LAWS)
def law(request):
    return LAWS[request.param]


# ---- one sample ----------------------------------------------------------------------------------------------------
def test_no_excess_means_that_the_solver_finds_the_same_moves_and_no_active_limit(law):
    rng = np.random.default_rng(3)
    dense = law.prepared.dense
    solver = law.solver(law.prepared)
    rows = excesses(dense)
    sides = set()
    for spread in np.geomspace(3e-4, 3.0, 60):
        θ = drawn(law, rng, spread)
        θ[law.prepared.problem.at["u"]] *= min(spread, 1.0)
        solution = solver.solve(θ)
        if solution.status != 1:
            continue
        free = -np.linalg.solve(dense.H, dense.F @ θ)
        within = (rows @ θ).max() <= 0
        sides.add(within)
        assert within == (np.abs(solution.z - free).max() < 1e-9)
        assert within == (not np.abs(solution.λ).max() > 0)
    assert sides == {True, False}


def test_memory_and_command_are_those_of_the_law(law):
    """From random memory, measurement and references; the memory of the law is an object, that of the expressions a list."""
    rng = np.random.default_rng(8)
    law = replace(law, u_min=(-1e3,), u_max=(1e3,), slew=(), limits=(), terminal="cost")
    own = unconstrained(law)
    n = len(law.prepared.start_x)
    memory = law.initial()
    x = 1e-3 * rng.normal(size=n)
    u = 1e-4 * rng.normal(size=1)
    y = 1e-3 * rng.normal(size=len(law.measured))
    r = 1e-3 * rng.normal(size=len(law.references))
    memory = law.start(0.0, memory._replace(x=x, u=u), y, r)
    begun = own.start(0.0, [*x, *u, -1.0], y.tolist(), r.tolist())
    assert begun[:n] == pytest.approx(memory.x, rel=1e-10, abs=1e-15)
    for _ in range(3):
        memory, command = law.step(0.0, memory, y, r)
        begun, mine = own.step(0.0, begun, y.tolist(), r.tolist())
        assert mine == pytest.approx(command, rel=1e-9)
        size = np.abs(memory.x).max()
        assert np.array(begun[:n]) == pytest.approx(memory.x, rel=1e-8, abs=1e-9 * size)
        assert begun[n] == mine[0] and begun[n + 1] < 0


def test_signals_and_first_memory(law):
    own = unconstrained(law)
    memory = dict(zip(names(own.states), own.initial(), strict=True))
    assert memory["X_before"] == 0.0 and memory["excess"] == -1.0
    assert own.conditions == ("excess",)
    assert (own.measured, own.commands, own.references) == (
        law.measured,
        law.commands,
        law.references,
    )


def test_without_any_limit_there_is_no_condition():
    own = unconstrained(mpc(u_min=(), u_max=(), slew=()))
    assert own.conditions == () and names(own.states)[-1] == "X_before"
    assert len(own.initial()) == len(own.states)


@pytest.mark.parametrize(
    "changes, why",
    [
        ({"limits": (Limit("Y", -1e-3, 1e-3, soft=True, linear=1.0, quadratic=1e4),)}, "soft"),
        ({"extra": lambda v: [v.u[0] <= 1.0]}, "of the user's own"),
    ],
)
def test_a_law_that_is_not_one_linear_law_has_no_expressions(changes, why):
    with pytest.raises(InputError, match=why):
        mpc(**changes).unconstrained()


# ---- a tube of it ---------------------------------------------------------------------------------------------------
PATH = Sine("output", (1e-3,), (1e-3,), 2.0, phase=(-np.pi / 2,), ramp=0.0)
GOES = Scenario(reference=PATH, duration=0.3)
RESTS = Scenario(reference=Hold("output", (2e-5,)), duration=0.25)
NEAR = C.Tube(starts={"Y": 2e-6}, substeps=4)


def loop(**changes):
    return ClosedLoop(Actuator(), Sampled(mpc(known=(), preview=5, **changes), 1e-3))


def test_the_loop_of_a_predictive_law_is_held_within_its_limits():
    verdict = check_tube(NEAR, run(loop(), RESTS))
    assert verdict.holds and verdict.strength == "proof", verdict.worst


def test_a_limit_that_some_run_may_reach_is_named():
    """The run itself moves X by 55 µm; 2 µm of Y make 5 µm more."""
    verdict = check_tube(NEAR, run(loop(u_min=(-5.7e-5,), u_max=(5.7e-5,)), RESTS))
    assert verdict.holds is None
    assert "a limit of the law may become active: excess" in verdict.worst


def test_a_limit_that_the_run_itself_reaches_is_named_with_the_instant():
    verdict = check_tube(NEAR, run(loop(u_min=(-5e-5,), u_max=(5e-5,)), GOES))
    assert verdict.holds is None and "a limit of the predictive law is active" in verdict.worst


def test_a_loop_that_does_not_come_closer_is_not_held():
    wrong = mpc(Actuator(K=-115.4), known=(), preview=5)
    short = replace(GOES, duration=0.02)
    verdict = check_tube(NEAR, run(ClosedLoop(Actuator(), Sampled(wrong, 1e-3)), short))
    assert verdict.holds is None


@pytest.mark.parametrize("off, same", [(0.0, True), (1e-6, True), (1.2e-5, False)])
def test_a_solver_that_does_something_else_is_refused(off, same):
    """Two states of the plant and one of the law; the second of the plant goes from 0 to 4."""
    plant = SimpleNamespace(states=(SimpleNamespace(name="p"), SimpleNamespace(name="y")))
    values = np.column_stack([np.ones(5), np.arange(5.0), np.zeros(5)])
    values[2, 0] = 1.5
    other = values + [0.0, 1.0, 7.0] * np.array([0, 0, 0, off, 0])[:, None]
    both = [
        SimpleNamespace(loop=SimpleNamespace(plant=plant), log=SimpleNamespace(values=v))
        for v in (values, other)
    ]
    if same:
        check_same(*both)
    else:
        with pytest.raises(InputError, match="y is off by 3e-06 of its range"):
            check_same(*both)


def test_a_tube_is_not_asked_of_expressions_that_do_something_else(monkeypatch):
    other = mpc(known=(), preview=5, S=(1e6,))
    monkeypatch.setattr(type(other), "unconstrained", lambda law: unconstrained(other))
    verdict = check_tube(NEAR, run(loop(), replace(RESTS, duration=0.05)))
    assert verdict.holds is None
    assert "does not give what its quadratic programme asks for" in verdict.worst


@pytest.mark.parametrize("off, same", [(1e-13, True), (1e-11, False)])
def test_a_state_that_stays_may_differ_by_rounding(off, same):
    plant = SimpleNamespace(states=(SimpleNamespace(name="p"),))
    both = [
        SimpleNamespace(
            loop=SimpleNamespace(plant=plant), log=SimpleNamespace(values=np.full((3, 1), value))
        )
        for value in (1.0, 1.0 + off)
    ]
    if same:
        check_same(*both)
    else:
        with pytest.raises(InputError, match="p is off by"):
            check_same(*both)
