"""Steps over modes far faster than they are: what is enclosed holds for runs, and no faulty loop with a fast mode is proved."""

from dataclasses import dataclass, replace
from typing import Annotated

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm

from workbench import Signal, System, simulate
from workbench.commands.verbs import read_case
from workbench.contract.parameters import Unit
from workbench.verification import claims as C
from workbench.verification.run import run
from workbench.verification.tube.checker import file as files
from workbench.verification.tube.checker.balls import Balls
from workbench.verification.tube.checker.frame import framed
from workbench.verification.tube.checker.interval import Interval
from workbench.verification.tube.checker.judge import judge
from workbench.verification.tube.checker.runs import Runs
from workbench.verification.tube.checker.section import Refused
from workbench.verification.tube.checker.series import Series
from workbench.verification.tube.checker.steps import as_series
from workbench.verification.tube.checker.stiff import Nominal, propagator, remainder, stiffly
from workbench.verification.tube.claim import check_tube
from workbench.verification.tube.programs import program

RNG = np.random.default_rng(5)


@dataclass(frozen=True)
class Ringing(System):
    """A ring behind a valve, far faster than a sample, drives a slow chamber.

    ẇ = −d w − ω² (E − u)(1 + c p),  Ė = w,  ṗ = E − k p (1 + c p),  ẏ = p − b y
    """

    ω: Annotated[float, Unit("1/s")] = 4e4
    d: Annotated[float, Unit("1/s")] = 8e3
    k: Annotated[float, Unit("1/s")] = 4.0
    b: Annotated[float, Unit("1/s")] = 3.0
    c: Annotated[float, Unit("1")] = 0.0
    states = (Signal("w"), Signal("E"), Signal("p"), Signal("y"))
    inputs = (Signal("u"),)
    outputs = (Signal("y"), Signal("p"))

    def initial(self):
        return [0.0, 0.0, 0.3, 0.1]

    def rhs(self, t, x, u):
        w, E, p, y = x
        return [
            -self.d * w - self.ω**2 * (E - u[0]) * (1 + self.c * p),
            w,
            E - self.k * p * (1 + self.c * p),
            p - self.b * y,
        ]

    def out(self, t, x):
        return [x[3], x[2]]


CASE = """
plant: ieha-published-linear
controller: {law: PID, K_p: 0.4, K_i: 2, feed: gain, K_v: 0.0087}
loop: {sample_time: 1 ms}
scenario:
  reference: {type: Sine, space: output, centre: start, amplitude: [1 mm], frequency: 5 Hz, ramp: 0.1 s}
  duration: 0.6 s
claims:
  tube: {starts: {Y: 1 um}}
"""


def case(folder, *settings):
    path = folder / "case.yaml"
    path.write_text(CASE, "utf-8")
    return read_case(str(path), settings)


def asked(made, certificate=""):
    claim = next(c for c in made.claims if isinstance(c, C.Tube))
    return check_tube(replace(claim, certificate=certificate), run(made.loop, made.scenario))


@pytest.fixture(scope="module")
def proved(tmp_path_factory):
    """(verdict, certificate, case) of the published actuator, whose fastest lag is 2,300 times shorter than a sample."""
    folder = tmp_path_factory.mktemp("stiff")
    made = case(folder)
    verdict = asked(made, str(folder / "tube.npz"))
    assert verdict.holds, verdict.worst
    return verdict, files.load(str(folder / "tube.npz")), made


# ---- the frame ---------------------------------------------------------------------------------------------------------
def matrices(kind: str) -> np.ndarray:
    """Matrices with fast modes of either kind beside an integrator chain, which has no basis of eigenvectors."""
    slow = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [3.0, 1.0, -2.0]])
    fast = {"ring": [[-9e3, 7e4], [-7e4, -9e3]], "lags": [[-2e6, 0.0], [40.0, -3e3]]}[kind]
    whole = np.block([[slow, np.zeros((3, 2))], [np.zeros((2, 3)), np.array(fast)]])
    found = []
    for _ in range(4):
        T = np.eye(5) + 0.3 * RNG.normal(size=(5, 5))
        S = np.diag(10.0 ** RNG.uniform(-4, 4, 5))
        found.append(S @ T @ whole @ np.linalg.inv(T) @ np.linalg.inv(S))
    return np.array(found)


@pytest.mark.parametrize("kind", ("ring", "lags"))
def test_a_frame_takes_fast_modes_out_and_carries_what_the_exponential_does(kind):
    A = matrices(kind)
    sizes = np.ones((len(A), 5))
    for h in (1e-3, 1e-5):
        frame = framed(A, sizes, h)
        assert (
            frame.slow
            == {("ring", 1e-3): 3, ("ring", 1e-5): 5, ("lags", 1e-3): 3, ("lags", 1e-5): 4}[kind, h]
        )
        whole = frame.T @ Balls.exact(frame.X)
        assert (np.abs(whole.mid - np.eye(5)) <= whole.rad).all()
        Φ = propagator(frame, h)
        left = frame.defect(A, np.zeros_like(A))
        for k in range(len(A)):
            true = expm(A[k] * h)
            scale = np.abs(frame.T.mid[k]) @ np.abs(frame.X[k]) + np.abs(true)
            assert (np.abs(Φ.mid[k] - true) <= Φ.rad[k] + 1e-9 * scale).all()
            assert (left[k] >= np.abs(frame.X[k] @ A[k] - frame.Λ[k] @ frame.X[k])).all()


def test_a_step_encloses_runs_of_a_ring_that_is_not_linear():
    """From corners of the start, beside a path that is no solution at all."""
    plant, h, n = Ringing(c=0.2), 2e-3, 5
    x, t = ca.SX.sym("x", n), ca.SX.sym("t")
    flow = program(
        ca.Function("f", [t, x], [ca.vertcat(*plant.rhs(t, ca.vertsplit(x)[:4], [x[4]]), 0)])
    )
    x0 = np.array([3.0, 0.98, 0.3, 0.1, 1.0])
    half = np.array([2.0, 1e-3, 1e-3, 1e-3, 1e-3])
    path = np.zeros((1, 5, n))
    path[0, 0] = [0.0, 1.0, 0.3, 0.1, 1.0]
    free = np.full((1, n), np.inf)
    reaches = np.stack([half, np.full(n, np.inf)])[None]
    runs = Runs([Interval(np.array([v])) for v in x0], reaches, (-free, free))

    def given(state):
        clock = Interval(np.zeros(1))
        return [as_series(clock) if isinstance(state[0], Series) else clock, *state]

    stiffly(flow, runs, given, h, path, np.zeros(1, int))
    low, high = (np.array([getattr(c, side)[0] for c in runs.centre]) for side in ("lo", "hi"))
    assert (
        np.isfinite(runs.errors[0]).all()
        and (high - low < 0.2 * np.array([3e2, 1e-2, 1e-2, 1e-2, 1e-2])).all()
    )
    middle, bent = None, np.zeros(n)
    for ξ in [np.zeros(n), *(s * e for e in np.eye(n) for s in (-1, 1)), np.ones(n), -np.ones(n)]:
        rhs = lambda t, x: [*plant.rhs(t, x[:4], x[4:]), 0.0]  # noqa: E731
        made = solve_ivp(rhs, (0, h), x0 + half * ξ, "DOP853", rtol=1e-12, atol=1e-12)
        assert (made.y.T >= runs.low[0] - 1e-9).all() and (made.y.T <= runs.high[0] + 1e-9).all()
        wide = runs.errors[0][0] + 1e-9
        end = made.y[:, -1] - runs.maps[0][0] @ (half * ξ)
        middle = end if middle is None else middle
        bent = np.maximum(bent, np.abs(end - middle))
        assert (end >= low - wide).all() and (end <= high + wide).all()
    assert (bent <= runs.errors[0][0] + 1e-9).all()
    assert bent.max() > 1e-6  # what the matrix leaves of the runs is there to be bounded


def test_what_a_wrong_matrix_leaves_is_bounded_by_the_remainder():
    """ė = (X⁻¹ΛX + Δ)e + r beside w = e^{Λs}w(0): |ζ| = |X e − w|; with Δ left out of the bound some run is beyond it."""
    A, h, n = matrices("ring")[:1], 1e-3, 5
    frame = framed(A, np.ones((1, n)), h)
    X, T, Λ = frame.X[0], frame.T.mid[0], frame.Λ[0]
    instants = np.linspace(0, h, 40)
    beyond = {"from where it starts": False, "from what drives it": False}
    for _ in range(20):
        Δ = T @ (RNG.choice([-1.0, 1.0], (n, n)) * np.array([[300.0]] * 3 + [[1e4]] * 2)) @ X
        F = np.abs(X @ Δ)[None]
        for kind in beyond:
            e0 = T @ RNG.choice([-1.0, 1.0], n) if kind == "from where it starts" else np.zeros(n)
            r = np.zeros(n) if e0.any() else T @ (RNG.choice([-1.0, 1.0], n) * 1e3)
            whole = np.block([[T @ Λ @ X + Δ, r[:, None]], [np.zeros((1, n + 1))]])
            e = np.array([(expm(whole * t) @ [*e0, 1.0])[:n] for t in instants])
            free = np.array([T @ expm(Λ * t) @ X @ e0 for t in instants])
            ζ = np.abs((e - free) @ X.T).max(axis=0)
            P = 1.001 * np.abs(free).max(axis=0)[None]
            set_ = Nominal(P, np.zeros((1, n)), np.zeros((1, n)))
            forced = np.abs(X @ r)[None]
            assert (ζ <= remainder(frame, F, set_, forced, h)[0] * (1 + 1e-6)).all()
            beyond[kind] |= bool((ζ > remainder(frame, 0 * F, set_, forced, h)[0] * 1.01).any())
    assert all(beyond.values()), beyond


# ---- the claim ---------------------------------------------------------------------------------------------------------
def test_a_loop_with_a_lag_that_no_step_follows_is_held(proved):
    verdict, c, _ = proved
    assert verdict.strength == "proof" and verdict.data["ends"] == "period"
    assert c.paths.shape == (len(c.z), 2, c.order + 1, c.states)


def test_runs_from_the_starts_stay_in_it(proved):
    _, c, made = proved
    moving = ~c.flow.still()[c.section]
    for a in (1, -1, 0.3):
        scenario = replace(made.scenario, offset={"Y": 1e-6 * a})
        x = simulate(made.loop, scenario).values[:, c.section]
        z = np.where(moving, x, np.vstack([c.z[:1], x[:-1]]))[1 : len(c.z)]
        reach = c.reach[1:, 0, c.section]
        assert (np.abs(z - c.z[1:]) <= reach * (1 + 1e-6) + 1e-12 * np.abs(c.z[1:])).all()


FAULTS = (
    pytest.param("controller.K_p=12", marks=pytest.mark.long),
    "loop.sample_time=60 ms",
)


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_not(fault, tmp_path):
    verdict = asked(case(tmp_path, fault))
    assert verdict.holds is None and verdict.worst


def test_a_path_that_is_moved_or_bent_is_refused(proved):
    """What the path misses enters the inequality."""
    _, c, _ = proved
    judge(c)
    for power, size in ((1, 1.0), (2, 1e3), (3, np.nan)):
        paths = c.paths.copy()
        paths[20, 0, power, list(c.names).index("v_2")] += size
        with pytest.raises(Refused):
            judge(replace(c, paths=paths))
    with pytest.raises(Refused, match="paths"):
        judge(replace(c, paths=c.paths[:, :, :-1]))


def test_a_lag_that_grows_is_refused(proved):
    """The certificate's programs with the sign of the fastest lag changed: the frame of another plant saves nothing."""
    _, c, _ = proved
    wrong = np.where(c.parameters == 0.43e-6, -0.43e-6, c.parameters)
    assert (wrong != c.parameters).any()
    with pytest.raises(Refused):
        judge(replace(c, parameters=wrong))
