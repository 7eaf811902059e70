"""Steps that an integrator can follow: stiff plants run at the default step, and a divergence is the loop's, never the step's."""

from dataclasses import dataclass, replace

import casadi as ca
import numpy as np
import pytest
from scipy.linalg import expm
from small import Feedback, Linear

from workbench import ClosedLoop, Sampled, Scenario, Signal, Sine, System, simulate
from workbench.contract.errors import InputError
from workbench.numerics.calculus import trace
from workbench.numerics.direct import Direct
from workbench.run.attempt import Attempt, followed
from workbench.run.pace import TURNING, Pace, modes_at, needed
from workbench.verification import claims as C
from workbench.verification import run_claims, verify
from workbench.verification.observed.settled import check_settled
from workbench.verification.run import run

# A motor: L i̇ = u − R i − K ω, J ω̇ = K i − b ω, with L/R = 0.7 µs.
L, R, K, J, b = 1.4e-6, 2.0, 0.05, 2e-5, 1e-5
MOTOR = Linear(
    ((-R / L, -K / L, 0.0), (K / J, -b / J, 0.0), (0.0, 1.0, 0.0)),
    ((1 / L,), (0.0,), (0.0,)),
    ((0.0, 0.0, 1.0),),
    x0=(0.0, 0.0, 0.0),
)
TURN = Scenario(0.6, Sine("output", 0.0, 1.0, 1.3))
T_s = 1e-3


def position_loop(k):
    """u = k (θ_d − θ), sampled."""
    return ClosedLoop(MOTOR, Sampled(Feedback(MOTOR, ((k,),), ((k,),)), T_s))


class Brought:
    """The same law, a user's."""

    measured, commands, references, T_s = ("y0",), ("u0",), ("y0_d",), T_s

    def command(self, t, z, y, r):
        return [2.0 * (r[0] - y[0])]


def exactly(k, log):
    """x at the samples, by the matrix exponential."""
    A, B = np.array(MOTOR.A), np.array(MOTOR.B)
    step = expm(np.block([[A, B], [np.zeros((1, 4))]]) * T_s)
    x = [np.zeros(3)]
    for θ_d in log.array("y0_d")[:-1]:
        u = k * (θ_d - x[-1][2])
        x.append(step[:3, :3] @ x[-1] + step[:3, 3] * u)
    return np.array(x)


@pytest.mark.parametrize("compiled", [None, False])
def test_a_stiff_motor_is_followed_at_the_default_step(compiled):
    log = simulate(position_loop(2.0), TURN, compiled=compiled)
    assert log.status.completed
    assert (
        log.provenance["pace"]["implicit"]
        and "decays at 1.43e+06 1/s" in log.provenance["pace"]["why"]
    )
    exact = exactly(2.0, log)
    error = np.abs(log.values[:, :3] - exact)[:, 1:].max(axis=0)
    assert (error < 1e-6 * np.abs(exact[:, 1:]).max(axis=0)).all()


def test_a_law_called_from_python_drives_it_too():
    fused, hosted = (
        simulate(loop, TURN) for loop in (position_loop(2.0), ClosedLoop(MOTOR, Brought()))
    )
    assert hosted.provenance["pace"] == fused.provenance["pace"]
    np.testing.assert_allclose(hosted.array("x2"), fused.array("x2"), rtol=0, atol=1e-12)


def test_no_verdict_on_it_is_about_the_step():
    assert [
        v.holds
        for v in verify(
            position_loop(2.0), TURN, [C.LinearStability(), run_claims.Settled(floor=1e-3)]
        )
    ] == [True, True]


def test_a_loop_around_it_that_diverges_is_violated():
    """Feedback of the wrong sign: the divergence stays where it is when the steps are shorter."""
    loop, scenario = position_loop(-400.0), Scenario(8.0, TURN.reference)
    (verdict,) = verify(loop, scenario, [run_claims.Settled()])
    assert verdict.holds is False and "diverged" in verdict.worst


def spring(ζ, ω=2e4):
    return Linear(((0.0, ω), (-ω, -2 * ζ * ω)), ((0.0,), (0.0,)), ((1.0, 0.0),), x0=(1.0, 0.0))


@pytest.mark.parametrize("ζ", [1e-3, 0.0, -1e-5])
def test_a_stiff_spring_keeps_its_damping(ζ):
    """20 turns a step of 1 ms: neither damped away nor blown up."""
    log = simulate(spring(ζ), Scenario(0.2))
    grown = np.log(np.hypot(*log.values[-1, :2])) / 0.2
    assert log.status.completed and "mode of 2e+04 rad/s" in log.provenance["pace"]["why"]
    assert grown == pytest.approx(-ζ * 2e4, rel=0.15, abs=0.05)


def test_a_mode_that_nothing_follows_is_refused_with_its_size():
    with pytest.raises(InputError, match="mode of 1e[+]12 rad/s") as refused:
        simulate(spring(0.0, 1e12), Scenario(1.0))
    assert "leave that mode out" in refused.value.mend


@dataclass(frozen=True)
class Closing(System):
    """A volume that closes: ẋ₀ = −k/(1 − x₁) (x₀ − sin 5 x₁), ẋ₁ = 1: as slow as its input at first, then stiff."""

    k: float = 40.0
    states = (Signal("x0"), Signal("x1"))
    inputs = ()

    def initial(self):
        return [0.0, 0.0]

    def rhs(self, t, x, u):
        return [-self.k / (1 - x[1]) * (x[0] - np.sin(5 * x[1])), 1.0 + 0.0 * x[0]]


def test_a_flow_that_grows_stiff_on_its_way_is_followed():
    """At t = 0.999 s its time constant is 25 µs; it then follows its input to 5 cos(5 x₁)/k (1 − x₁)."""
    log = simulate(Closing(), Scenario(0.999))
    assert log.status.completed and log.provenance["pace"]["why"]
    x0, x1 = log.values[-1, :2]
    assert x0 == pytest.approx(np.sin(5 * x1), abs=1e-3)


def test_slow_flows_go_as_they_are_told():
    log = simulate(position_loop(0.0).plant, Scenario(0.01, max_step=1e-7))
    assert log.provenance["pace"] == {
        "longest": None,
        "implicit": False,
        "why": "",
        "tolerance": 1.0,
    }


# ---- whose divergence it is ----------------------------------------------------------------------------------------
def runs(done):
    """Runs of 1000 samples, 1 ms apart, of which `done(step)` are done."""
    return lambda pace: Attempt(
        1000,
        done(min(pace.longest, 1e-3)),
        1e-3,
        lambda shares: [np.zeros(0) for _ in shares],
        pace,
    )


@pytest.mark.parametrize(
    "done, completed, sure",
    [
        (lambda h: 1000, True, True),
        (lambda h: 1000 if h < 3e-4 else 15, True, True),  # longer steps diverge
        (lambda h: 400, False, True),  # the loop does
        (lambda h: int(4e5 * h), False, False),
    ],
)  # earlier at shorter steps: nobody knows
def test_a_divergence_is_the_loops_only_at_one_time(done, completed, sure):
    made, pace, followed_it = followed(runs(done), Pace(), 1e-3)
    assert (made.completed, followed_it) == (completed, sure)


def straying(left, fast=1e7):
    """Runs of 1000 samples, all of them done, with a slow flow that turns fast once a drive left its stroke at sample left(h)."""
    steps = []

    def attempt(pace):
        h = min(pace.longest, 1e-3)
        steps.append(h)
        edge = left(h) / 1000
        look = lambda shares: [np.array([fast * 1j if s > edge else -1.0]) for s in shares]
        return Attempt(1000, 1000, 1e-3, look, pace, lambda: left(h))

    return attempt, steps


def test_modes_beyond_a_stroke_are_not_followed():
    """The flow there is no machine's; that the stroke was left is seen again with steps a quarter as long."""
    attempt, steps = straying(lambda h: 400)
    made, pace, sure = followed(attempt, Pace(), 1e-3)
    assert made.strays and sure
    assert pace == Pace() and steps == [1e-3, 2.5e-4]


@pytest.mark.parametrize("left", [lambda h: 400 if h > 5e-4 else 700, lambda h: 0])
def test_modes_are_followed_where_the_stroke_may_not_be_left_at_all(left):
    """Left at another time with shorter steps, or outside from the beginning: then the whole run is followed."""
    attempt, steps = straying(left, fast=1e4)
    _, pace, _ = followed(attempt, Pace(), 1e-3)
    assert pace.longest < 2e-4 and steps[-1] == pace.longest


def test_a_stroke_is_left_at_the_time_that_modes_before_it_ask_for():
    """A mode that turns fast within the strokes is followed, whatever comes after it."""
    look = lambda shares: [np.array([1e4j if s < 0.4 else 1e8j]) for s in shares]
    attempt = lambda pace: Attempt(1000, 1000, 1e-3, look, pace, lambda: 390)
    _, pace, _ = followed(attempt, Pace(), 1e-3)
    assert 1e-6 < pace.longest < 2e-4


def test_a_run_that_diverges_beyond_its_strokes_is_told_by_when_it_left_them():
    """It diverges earlier with every quarter, as beyond a stroke; it leaves at one time, and one more run says so."""
    tried = []

    def attempt(pace):
        tried.append(pace)
        done = int(4e5 * min(pace.longest, 1e-3)) + 300
        slow = lambda shares: [np.zeros(0) for _ in shares]
        return Attempt(1000, done, 1e-3, slow, pace, lambda: 250)

    made, _, sure = followed(attempt, Pace(), 1e-3)
    assert (made.end, made.done, sure, len(tried)) == (250, 700, True, 2)


def test_a_run_nobody_could_follow_decides_nothing():
    loop = position_loop(2.0)
    ran = run(loop, Scenario(0.05, TURN.reference))
    lost = replace(
        ran.log.status,
        completed=False,
        followed=False,
        message="the integrator does not follow this loop",
    )
    verdict = check_settled(run_claims.Settled(), replace(ran, log=replace(ran.log, status=lost)))
    assert verdict.holds is None and "does not follow" in verdict.worst


def test_paces():
    """Explicit while that costs little, implicit where a mode is over within a step, small where it turns."""
    assert needed(np.array([-100.0, -3 + 40j]), 1e-3, 1.0) == Pace()
    slow, fast = needed(np.array([-1e4]), 1e-3, 1.0), needed(np.array([-1e6]), 1e-3, 1.0)
    assert (slow.implicit, slow.longest) == (False, 2.5e-4) and (fast.implicit, fast.longest) == (
        True,
        1e-3,
    )
    turning = needed(np.array([-1e3 + 1e4j, -1e7]), 1e-3, 1.0)
    assert turning.implicit and turning.longest == pytest.approx(TURNING / abs(-1e3 + 1e4j))


# ---- where modes are read ------------------------------------------------------------------------------------------
def test_modes_along_a_run_are_those_of_its_flow():
    """∂ẋ/∂x = [[−k/(1 − x₁), …], [0, 0]]: its eigenvalues are −k/(1 − x₁) and 0."""
    plant = Closing()
    traced = trace(plant, ())
    c = traced.constants(plant)
    at = [(0.0, np.array([0.3, s]), np.zeros(0)) for s in (0.0, 0.5, np.nan, 0.9)]
    *found, last = modes_at(traced, at, c)
    assert not len(found.pop())  # no modes where there is no number
    for λ, s in zip([*found, last], (0.0, 0.5, 0.9)):
        assert np.sort(λ) == pytest.approx([-plant.k / (1 - s), 0.0], rel=1e-5)


def test_a_function_called_directly_gives_its_numbers():
    x = ca.SX.sym("x", 3)
    a = ca.SX.sym("a")
    f = ca.Function("f", [x, a], [ca.vertcat(a * x[0], ca.SX(1, 1), x[1] / x[2])])
    called = Direct(f)
    for numbers in ([1.5, 2.0, 3.0], [-4.0, 0.1, 7.0]):
        assert called(numbers, 2.5).tolist() == np.array(f(numbers, 2.5)).ravel().tolist()


def test_looks_that_ask_for_nothing_are_one_question_and_the_others_are_asked_one_by_one():
    """A fast mode seen at one instant only is a kink that is passed; seen beside it as well it is stiffness."""
    slow, fast = np.array([-1.0]), np.array([-1e5])

    def seen(where):
        look = lambda shares: [fast if where(share) else slow for share in shares]
        return Attempt(1000, 1000, 1e-3, look, None).needs(1e-3, False)

    assert seen(lambda share: False) == Pace()
    assert seen(lambda share: share == 0.5) == Pace()
    assert seen(lambda share: share >= 0.5).longest < 1e-4 or seen(lambda s: s >= 0.5).implicit


def test_modes_of_states_of_unlike_sizes():
    """Each state is moved alone, by a share of its own size: a difference that kept another one moved would be far off."""
    A = ((-3.0, 2e-4, 0.0), (5e3, -7.0, 1.0), (0.0, 40.0, -11.0))
    plant = Linear(A, ((0.0,), (0.0,), (1.0,)), ((1.0, 0.0, 0.0),), x0=(0.0, 0.0, 0.0))
    traced = trace(plant, ())
    (found,) = modes_at(traced, [(0.0, np.array([1e-3, 1e5, -20.0]), np.zeros(0))], np.zeros(0))
    assert np.sort(found) == pytest.approx(np.sort(np.linalg.eigvals(A)), rel=1e-4)


@pytest.mark.quick
def test_a_quick_look_says_what_the_whole_rule_says(monkeypatch):
    """Where the fastest mode is slow enough whatever its damping, the rule asks for nothing; near the edge both were seen."""
    rng = np.random.default_rng(3)
    drawn = []
    for _ in range(400):
        size = 10 ** rng.uniform(-1, 3.5, 5)
        turn = rng.choice([0.0, 0.3, 1.5, 1.57], 5)
        λ = rng.choice([-1.0, 1.0], 5) * size * np.exp(1j * turn)
        drawn.append((λ, 10 ** rng.uniform(-4, -2), 10 ** rng.uniform(-1, 2)))
    quick = [needed(*asked) for asked in drawn]
    monkeypatch.setattr("workbench.run.pace._slow", lambda *_: False)
    assert quick == [needed(*asked) for asked in drawn]
    assert 50 < quick.count(Pace()) < 350


def test_a_mode_beyond_all_numbers_is_left_out_of_the_quick_look_too():
    assert needed(np.array([1e15, -3.0]), 1e-3, 10.0) == Pace()
    assert needed(np.zeros(0), 1e-3, 10.0) == needed(np.zeros(2), 1e-3, 10.0) == Pace()
