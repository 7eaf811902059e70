"""Linear loops slower than a radian a second, and laws that begin under a reference that moves, by hand."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.linalg import expm

from workbench import InputError, Scenario, Signal
from workbench.contract.plain import Plain
from workbench.verification.linear import called_law, frozen_time
from workbench.verification.linear.margins import disk_margin, loop_margins, phase_crossovers
from workbench.verification.linear.quadratic import quadratic_certificate
from workbench.verification.linear.stability import spectral, stability, stable_verdict
from workbench.verification.linear.step_matrix import Matrices
from workbench.verification.linear.systems import LinearSystem


@pytest.mark.parametrize("k", [0.02, 0.5, 1.0, 30.0])
def test_margins_of_an_integrator_at_any_speed(k):
    """L = k/s: |L| = 1 at k, a quarter turn left, π/(2 k) of delay; no gain destabilises."""
    found = loop_margins(
        LinearSystem(np.zeros((1, 1)), np.ones((1, 1)), k * np.ones((1, 1)), np.zeros((1, 1)))
    )
    assert found.phase_margin == pytest.approx(np.pi / 2)
    assert found.delay_margin == pytest.approx(np.pi / 2 / k, rel=1e-6)
    assert (found.gain_up, found.gain_down) == (np.inf, 0.0)


@pytest.mark.parametrize("speed", [0.01, 0.2, 40.0])
def test_margins_of_three_lags_scale_with_time(speed):
    """L = 2/(s/a + 1)³: real and negative at √3 a with 1/4; |L| = 1 at √(2^(2/3) − 1) a."""
    A = speed * (-np.eye(3) + np.diag([1.0, 1.0], -1))
    B, C = speed * np.array([[1.0], [0.0], [0.0]]), np.array([[0.0, 0.0, 2.0]])
    L = LinearSystem(A, B, C, np.zeros((1, 1)))
    found = loop_margins(L)
    ω = np.sqrt(2.0 ** (2 / 3) - 1)
    left = np.pi - 3 * np.arctan(ω)
    assert found.gain_up == pytest.approx(4.0) and found.phase_margin == pytest.approx(left)
    assert found.delay_margin == pytest.approx(left / (ω * speed), rel=1e-6)
    assert phase_crossovers(L) == [pytest.approx(np.sqrt(3) * speed, rel=1e-6)]


def test_a_law_is_begun_with_what_it_measures_and_is_wanted_at_first(monkeypatch):
    """References that move; a disturbance among the live inputs is none of the law's."""
    begun = []

    def start(t, z, y, r):
        begun.append((t, z, y, r))
        return [7.0]

    time = np.arange(3.0)
    inside = SimpleNamespace(law="own", z=(0.5,))
    law = SimpleNamespace(
        measured=(SimpleNamespace(name="b"), SimpleNamespace(name="a")), states=("m",), start=start
    )
    demand = SimpleNamespace(
        live=["a_d", "push", "b_d"],
        kinds={"a_d": "reference", "push": "disturbance", "b_d": "reference"},
        at=lambda t: np.column_stack([10 + t, 20 + t, 30 + t]),
    )
    logged = {"a": 1 + time, "b": 5 + time}
    monkeypatch.setattr(called_law, "running", lambda controller: law)
    monkeypatch.setattr(called_law, "innermost", lambda law: inside)
    monkeypatch.setattr(called_law, "start_state", lambda loop, scenario: np.array([1.0, 2.0, 3.0]))
    monkeypatch.setattr(called_law, "Demand", lambda *given: demand)
    monkeypatch.setattr(called_law, "without_records", lambda own: begun.append(own))
    run = SimpleNamespace(log=SimpleNamespace(time=time, array=logged.__getitem__), scenario=None)
    found = called_law.Asked(SimpleNamespace(controller=object.__new__(Plain)), run)
    assert begun[0] == (0.0, [3.0], [5.0, 1.0], [10.0, 30.0]) and begun[1] == "own"
    assert found.y.tolist() == [[5.0, 1.0], [6.0, 2.0], [7.0, 3.0]] and found.delay == 0.0
    assert found.r.tolist() == [[10.0, 30.0], [11.0, 31.0], [12.0, 32.0]]
    assert found.seen[0].wrapped == [7.0] and found.seen[0].own == ("own", (0.5,))


@pytest.mark.parametrize("why, own", [("", "the loop"), ("it is noisy", "smooth")])
def test_a_loop_with_noise_is_looked_at_without_it(monkeypatch, why, own):
    """And is asked for its modes in the names and sizes of the one that is looked at."""
    states = (Signal("a", "m"), Signal("z", "1", "", "friction"))
    made = {
        name: SimpleNamespace(name=name, states=states, no_derivative=why)
        for name in (own, "the loop")
    }
    monkeypatch.setattr(frozen_time, "smooth", lambda loop: made["smooth"])
    logged = {"a": [1.0, 2.0], "z": [3.0, 4.0]}
    log = SimpleNamespace(time=np.array([0.0, 2.5]), array=logged.__getitem__)
    scenario = Scenario(2.5, offset={"a": 1.0})
    run = SimpleNamespace(loop=made["the loop"], log=log, scenario=scenario)
    found = frozen_time.TracedPoints(run)
    assert found.loop is made[own] and found.x.tolist() == [[1.0, 3.0], [2.0, 4.0]]
    assert found.rubs == {"z"} and found.length == 2.5 and found.scenario.offset == {}


def test_a_matrix_without_states_is_stable_and_has_no_modes():
    found = stability(np.zeros((0, 0)))
    assert found.holds is True and found.why == "no states"
    shapes = {
        np.shape(value) for value in vars(found.spectrum).values() if isinstance(value, np.ndarray)
    }
    assert shapes == {(0,), (0, 0)}


def test_a_loop_that_is_not_stable_has_no_disk():
    """L = −2/s: the closed loop grows at 2 1/s."""
    found = disk_margin(
        LinearSystem(np.zeros((1, 1)), np.ones((1, 1)), -2 * np.ones((1, 1)), np.zeros((1, 1)))
    )
    assert (found.α, found.gain_min, found.gain_max, found.phase) == (0.0, 1.0, 1.0, 0.0)
    assert np.isnan(found.ω) and found.stability.holds is False


@pytest.mark.parametrize("period, lag", [(None, 0.0), (0.5, 0.0), (0.5, 0.125)])
def test_the_matrix_over_a_sample_asks_for_a_release_only_where_there_is_a_lag(period, lag):
    """J e^{A (T − δ)} R e^{A δ}, in typical sizes; of a continuous loop its flow alone."""
    A, J, R = (
        np.array([[-1.0, 2.0], [0.0, -3.0]]),
        np.array([[1.0, 0.5], [0.25, 2.0]]),
        np.diag([1.0, 0.5]),
    )
    asked = []

    def slope(name, t, x, w):
        asked.append((name, t, x, w))
        return {"flow": A, "jump": J, "release": R}[name]

    own = object.__new__(Matrices)
    own.loop, own.S, own.slope = (
        SimpleNamespace(period=period, lag=lag),
        np.array([2.0, 10.0]),
        slope,
    )
    found = own.over_sample(3.0, "x", "there", "w", "later")
    M = (
        A
        if period is None
        else J @ expm(A * (period - lag)) @ (R @ expm(A * lag) if lag else np.eye(2))
    )
    assert found == pytest.approx(M * np.array([[1.0, 5.0], [0.2, 1.0]]))
    seen = [("flow", 3.0, "x", "w")]
    seen += [("release", 3.0, "x", "w")] if lag else []
    seen += [("jump", 3.0, "there", "later")] if period else []
    assert asked == seen


@pytest.mark.parametrize("T, margin", [(None, 0.5), (0.1, 0.2)])
def test_a_verdict_on_modes_lists_them(T, margin):
    A = np.array([[-0.5, 2.0], [-2.0, -0.5]]) if T is None else np.array([[0.8, 0.0], [0.0, -0.3]])
    one, none = np.ones((2, 1)), np.zeros((1, 1))
    found = stable_verdict(LinearSystem(A, one, one.T, none, T), "the loop", ("a", "b"), "modes")
    assert found.holds is True and found.margin == pytest.approx(margin)
    assert (found.unit, found.key) == ("1/s" if T is None else "1", "modes")
    wanted = [[-0.5, -2.0], [-0.5, 2.0]] if T is None else [[-0.3, 0.0], [0.8, 0.0]]
    assert sorted(found.data["eigenvalues"]) == [pytest.approx(row) for row in wanted]
    assert found.data["T"] == T and len(found.data["rounding_bounds"]) == 2
    assert found.claim == "the loop is asymptotically stable" and "Lyapunov" in found.source


@pytest.mark.parametrize("n", [2, 3])
def test_the_rounding_of_a_defective_matrix_is_elsners_and_grows_as_the_matrix(n):
    """(2 ‖A‖)^{1−1/n} (4 n ε ‖A‖)^{1/n}: at 1024 times the matrix 1024 times as much."""
    A = np.eye(n) + np.eye(n, k=1)
    one, large = (spectral(size * A).bounds for size in (1.0, 1024.0))
    assert large == pytest.approx(1024 * one, rel=1e-12)
    size = np.linalg.norm(A, 2)
    wanted = (2 * size) ** (1 - 1 / n) * (4 * n * np.finfo(float).eps * size) ** (1 / n)
    assert (one > 0.5 * wanted).all() and (one < 2 * wanted).all()


def test_matrices_that_do_not_fit_are_refused():
    """A 2 × 3 or 3 × 2; and a matrix of which one entry is no number has no certificate."""
    one = np.ones((2, 1))
    for A in (np.ones((2, 3)), np.ones((3, 2))):
        with pytest.raises(InputError):
            LinearSystem(A, one, one.T, np.zeros((1, 1)))
    for spoilt in (np.nan, np.inf):
        with pytest.raises(InputError, match="square matrix of numbers"):
            quadratic_certificate(np.array([[-1.0, 0.0], [spoilt, -2.0]]))
    with pytest.raises(InputError, match="square matrix of numbers"):
        quadratic_certificate(np.ones((2, 3)))


@pytest.mark.parametrize(
    "k, lag, wide", [(2, 0.25, False), (2, 0.0, False), (0, 0.25, False), (2, 0.25, True)]
)
def test_a_row_of_the_log_is_seen_just_before_its_sample(monkeypatch, k, lag, wide):
    """The plant there, the memory of the sample before (released, where commands come late); first rows and coarse logs alone."""
    asked = []
    x = np.arange(9.0).reshape(3, 3)

    def value(name, t, *at):
        asked.append((name, t, at[0].tolist(), at[1]))
        return np.array([50.0, 60.0, 70.0])

    def over_sample(t, first, there, w, later):
        asked.append((t, first.tolist(), there.tolist(), w, later))
        return np.eye(3)

    own = object.__new__(frozen_time.TracedPoints)
    own.loop = SimpleNamespace(lag=lag, plant=SimpleNamespace(states=(Signal("a"),)))
    own.log = SimpleNamespace(time=np.array([1.0, 1.5, 2.0]))
    own.x, own.state, own.commons = x, ["a", "m", "n"], "commons"
    own.matrices = SimpleNamespace(value=value, over_sample=over_sample)
    own.w = lambda row: f"w{row}"
    own.place = lambda *given: given
    monkeypatch.setattr(frozen_time, "coarse", lambda loop, log: wide)
    found = own.visited(k, "held")
    assert found[:3] == (k, "held", True) and found[4:] == (["a", "m", "n"], "commons")
    before = k if wide or not k else k - 1
    t = [1.0, 1.5, 2.0][k]
    if before == k:
        assert asked == [(t, x[k].tolist(), x[k].tolist(), f"w{k}", f"w{k}")]
        return
    memory = [60.0, 70.0] if lag else x[before, 1:].tolist()
    released = [("release", 1.5, x[1].tolist(), "w1")] if lag else []
    assert asked == [*released, (t, x[1].tolist(), [x[2, 0], *memory], "w1", "w2")]
    assert own.visited(k)[1] == "on the way, t = 2 s" and own.visited(k)[2] is False
    assert x[2].tolist() == [6.0, 7.0, 8.0]
