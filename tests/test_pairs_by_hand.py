"""Proofs of several matrices, by hand: each has to fall, in whatever order they stand; powers beyond floats; what is turned."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from workbench.contract.errors import InputError
from workbench.verification.linear import lyapunov
from workbench.verification.linear.lyapunov import Certificate, common_matrix
from workbench.verification.observed.expression import _raised, formula
from workbench.verification.predictive.run_claims import FALLBACK, STATUS, _solves
from workbench.verification.temporal.sentence import read

GOOD = {None: np.diag([-1.0, -3.0]), 0.1: np.diag([0.5, -0.8])}
BAD = {None: np.diag([-1.0, 0.5]), 0.1: np.diag([0.5, -1.25])}
P = np.diag([2.0, 7.0])


# ---- a certificate of several matrices ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("T", [None, 0.1])
@pytest.mark.parametrize("radius", [None, 1e-3 * np.ones((2, 2))])
def test_every_matrix_of_a_certificate_has_to_fall(T, radius):
    good, bad = GOOD[T], BAD[T]
    made = lambda *matrices, rate=0.0: Certificate(matrices, P, T, rate, radius)
    other = 0.9 * good
    assert made(good).check() and made(good, other).check() and made(good, other).bears(1e-4)
    for several in ((good, bad), (bad, good), (good, bad, good), (bad,)):
        assert not made(*several).check() and not made(*several).bears(1e-6)
    rates = (0.99, 1.01) if T is None else (0.19, 0.21)
    for rate, falls in zip(rates, (True, False)):
        if radius is None:
            assert made(good, rate=rate).check() is falls
    slow = 0.5 * good if T is None else np.diag([0.5, -0.95])
    assert not made(good, slow, rate=rates[0] * 0.9).check()


def test_many_states_are_checked_one_by_one_as_well():
    n = 42
    stable, lost = -np.eye(n), -np.eye(n)
    lost[40, 40] = 0.125
    assert Certificate((stable, 2 * stable), np.eye(n)).check()
    assert not Certificate((stable, lost), np.eye(n)).check()
    assert not Certificate((lost, stable), np.eye(n)).check()


@pytest.mark.parametrize("T", [None, 0.1])
def test_a_common_matrix_of_a_pair_falls_for_both_at_the_rate_asked_for(T):
    """Of matrices that do not commute; sampled likewise. A rate above that of one of them has none."""
    pair = [np.array([[-1, 4.0], [0, -2]]), np.array([[-3, -1.0], [0, -1.5]])]
    if T is not None:
        pair = [np.array([[0.6, 0.4], [0, 0.4]]), np.array([[0.2, -0.1], [0, 0.7]])]
    for rate in (0.0, 0.1):
        found = common_matrix(pair, T, rate)
        assert found is not None and np.array_equal(found, found.T)
        assert Certificate(tuple(pair), found, T, rate).check()
    too_fast = 1.1 if T is None else 0.35
    found = common_matrix(pair, T, too_fast)
    assert found is None or not Certificate(tuple(pair), found, T, too_fast).check()


# ---- powers that no float holds -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "a, n, value",
    [
        (1e200, 2, math.inf),
        (1e200, 3, math.inf),
        (-1e200, 2, math.inf),
        (-1e200, 3, -math.inf),
        (-1e200, 4, math.inf),
        (-1e200, 9, -math.inf),
        (-2.0, 3, -8.0),
        (0.0, 0, 1.0),
    ],
)
def test_a_power_keeps_its_sign_beyond_the_largest_float(a, n, value):
    assert _raised(a, n) == value


# ---- answers of a solver -------------------------------------------------------------------------------------------------------
def test_every_answer_of_a_solver_is_counted_in_its_words():
    """Two samples are optimal, of each kind of answer one is not; what nobody knows is told by its number."""
    status = np.array([1.0, 2.0, *STATUS, -77.0, 1.0])
    fallback = np.zeros(len(status))
    fallback[-1] = 3.0
    time = np.arange(len(status)) * 0.5
    logged = {"mpc_status": status + 1e-7, "mpc_fallback": fallback}
    run = SimpleNamespace(log=SimpleNamespace(array=logged.__getitem__, time=time))
    _, _, words, counts = _solves(run)
    assert counts == {
        "status -77": 1, "no finite model": 1, "beyond a limit": 1, "not convex": 1,
        "too many iterations": 1, "unbounded": 1, "cycling": 1, "infeasible": 1, "inaccurate": 1,
        "command held": 1,
    }  # fmt: skip
    assert words.endswith(", inaccurate: 1, command held: 1; the first at t = 1 s")
    assert FALLBACK == {1: "last solution", 2: "terminal law", 3: "command held"}


# ---- what decides where something is turned -------------------------------------------------------------------------------------
T = np.linspace(0.0, 2.0, 21)


@pytest.mark.parametrize("text, column, holds, at", [
    ("not (eventually[0 s, 5 s] (x > 1))", T, False, 2.0),
    ("not (always[0 s, 5 s] (x < 1))", T, True, 2.0),
    ("not (always[0 s, 1 s] (x < 3))", T, False, 1.0),
    ("not (eventually[0 s, 1 s] (x > 3))", T, True, 1.0),
    ("not not eventually[0 s, 5 s] (x > 1)", T, True, 2.0),
])  # fmt: skip
def test_a_turned_sentence_is_decided_by_what_was_seen(text, column, holds, at):
    """Also where the run ends before its interval does."""
    answer = read(text, {"x": "1"}).on(T, {"x": column}, complete=False)
    assert answer.holds is holds and answer.time == pytest.approx(at)
    assert answer.words == f"x = {at:.3g}"


def test_where_no_equation_gives_a_matrix_an_inequality_does_at_no_rate(monkeypatch):
    monkeypatch.setattr(lyapunov, "lyapunov_matrix", lambda A, T, rate=0.0: None)
    for T, A in ((None, -0.5 * np.eye(2)), (0.1, 0.9 * np.eye(2))):
        found = lyapunov.certify(A, T)
        assert found is not None and found.rate == 0.0 and found.check()
    monkeypatch.setattr(lyapunov, "common_matrix", lambda matrices, T: -np.eye(2))
    assert lyapunov.certify(-0.5 * np.eye(2)) is None
    monkeypatch.setattr(lyapunov, "common_matrix", lambda matrices, T: None)
    assert lyapunov.certify(-0.5 * np.eye(2)) is None


@pytest.mark.parametrize("number, taken", [("9.99e299", True), ("1e300", False), ("1e301", False)])
def test_numbers_of_a_formula_are_below_a_limit(number, taken):
    if taken:
        assert formula(f"x + {number}", ["x"])([0.0]) == float(number)
        return
    with pytest.raises(InputError):
        formula(f"x + {number}", ["x"])
