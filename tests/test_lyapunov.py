"""Quadratic certificates: closed forms, the edge from both sides, and a re-checker that trusts nobody."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from workbench.contract.errors import InputError
from workbench.verification.linear import lyapunov
from workbench.verification.linear.lyapunov import (
    Certificate,
    balancing,
    certify,
    common_matrix,
    falls_around,
    falls_in_ball,
    lyapunov_matrix,
)
from workbench.verification.linear.quadratic import quadratic_certificate, slack, tolerates
from workbench.verification.rigorous import recheck as standalone
from workbench.verification.rigorous.balls import Ball
from workbench.verification.rigorous.recheck import recheck


def stable(n, seed, T=None):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n)) * 10.0 ** rng.integers(-1, 2, n)
    λ = np.linalg.eigvals(A)
    return A - (λ.real.max() + 0.37) * np.eye(n) if T is None else A * 0.93 / np.abs(λ).max()


@pytest.mark.parametrize("T", [None, 0.02])
@pytest.mark.parametrize("n", [1, 3, 6, 12])
def test_rate_found_is_nearly_the_spectral_one(n, T):
    A = stable(n, n, T)
    v = quadratic_certificate(A, T)
    edge = 0.37 if T is None else 0.07
    assert v.holds and v.strength == "proof" and "stored matrix" in v.claim
    assert 0.9 * edge < v.data["rate"] < edge


def test_rate_of_an_oscillator_and_of_a_double_mode():
    v = quadratic_certificate([[0, 1], [-9.7, -0.6]])
    assert v.holds and 0.299 < v.data["rate"] < 0.3
    v = quadratic_certificate(
        [[0.9, 5.0], [0.0, 0.9]], 1.0
    )  # defective: every rate below, none at the edge
    assert v.holds and 0.08 < v.data["rate"] < 0.1


def test_instability_and_the_edge():
    v = quadratic_certificate([[0.2, 1], [0, -1.0]])
    assert v.holds is False and v.strength == "numerical"
    for A in ([[0, 1.3], [-1.3, 0]], [[0.0, 1.0], [0.0, 0.0]], [[0.0]]):
        assert quadratic_certificate(A).holds is None
    assert quadratic_certificate([[1.0]], 0.1).holds is None
    assert quadratic_certificate([[-1e-9, 1], [0, -1e-9]]).holds is not False
    with pytest.raises(InputError):
        quadratic_certificate([[1.0, 2.0]])


def test_given_matrices_are_judged_not_mended():
    A = np.array([[0.0, 1.0], [-2.3, -0.7]])
    P = lyapunov_matrix(A)
    assert quadratic_certificate(A, P=P).strength == "proof"
    barely = P.copy()
    barely[0, 0] = P[0, 1] ** 2 / P[1, 1] * (1 - 1e-15)  # indefinite by rounding
    for wrong in (
        -P,
        np.eye(2),
        barely,
        P * [[1, -1], [-1, 1]],
        P + np.triu(np.ones((2, 2)), 1) * 1e-12,
    ):
        v = quadratic_certificate(A, P=wrong)
        assert v.holds is None and "no certificate" in v.worst


def test_a_radius_is_covered_up_to_the_true_edge():
    """ẋ = −a x with |Δ| ≤ r: holds exactly for r < a; x⁺ = a x for r < 1 − a."""
    assert (
        quadratic_certificate([[-0.7]], radius=0.699).holds
        and quadratic_certificate([[-0.7]], radius=0.701).holds is None
    )
    assert quadratic_certificate([[0.7]], 0.1, radius=0.299).holds
    assert quadratic_certificate([[0.7]], 0.1, radius=0.301).holds is None
    A = stable(5, 3, 0.1)
    P = lyapunov_matrix(A, 0.1, 0.03)
    rng = np.random.default_rng(5)
    good = [r for r in (1e-6, 1e-4, 1e-3, 1e-2, 0.1, 1.0) if falls_in_ball(Ball.of(A, r), P, 0.1)]
    assert 1e-4 in good and 1.0 not in good
    for _ in range(50):
        D = A + max(good) * rng.choice([-1, 1], A.shape)
        assert np.linalg.eigvalsh(P - D.T @ P @ D)[0] > 0


@pytest.mark.parametrize("T, a, edge", [(None, -0.7, 0.7), (0.1, 0.6, 0.4), (0.1, -0.85, 0.15)])
@pytest.mark.parametrize("p", [0.3, 5.0])
def test_what_a_matrix_bears_in_one_dimension(T, a, edge, p):
    """ẋ = (a + e) x falls for |e| < −a, x⁺ = (a + e) x for |e| < 1 − |a|, whatever P is; so say all three tests."""
    A, P = np.array([[a]]), np.array([[p]])
    for share, holds in ((0.999, True), (1.001, False)):
        e = share * edge
        assert falls_around(A, np.array([[e]]), P, T) is holds
        assert falls_in_ball(Ball.of(A, e), P, T) is holds
        assert tolerates(A, P, e, T) is holds
    true = -2 * a * p if T is None else p * (1 - a * a)
    assert true * (1 - 1e-6) < slack(A, P, T) <= true * (1 + 1e-12)
    assert slack(-A if T is None else 2 * A / abs(a), P, T) == 0.0


@pytest.mark.parametrize("T", [None, 0.1])
def test_no_member_of_an_interval_matrix_grows_where_it_is_said_to_fall(T):
    rng = np.random.default_rng(4)
    for _ in range(6):
        A = stable(3, int(rng.integers(1000)), T)
        P = lyapunov_matrix(A, T)
        shape = rng.uniform(0.2, 1.0, A.shape)
        good = [r for r in np.geomspace(1e-5, 3.0, 60) if falls_around(A, r * shape, P, T)]
        assert good and max(good) < 3.0
        for _ in range(40):
            D = A + max(good) * shape * rng.choice([-1, 1], A.shape)
            fall = -(P @ D + D.T @ P) if T is None else P - D.T @ P @ D
            assert np.linalg.eigvalsh(fall)[0] > 0


def test_many_states_by_outward_rounding():
    v = quadratic_certificate(stable(45, 1))
    assert v.holds and v.strength == "proof" and "Cholesky" in v.source


def test_slack_pays_for_differences():
    A = np.array([[0.5, 0.3], [-0.2, 0.6]])
    P = lyapunov_matrix(A, 1.0)
    ε = slack(A, P, 1.0)
    assert (
        ε == pytest.approx(np.linalg.eigvalsh(P - A.T @ P @ A)[0], rel=1e-6)
        and slack(A, -P, 1.0) == 0.0
    )
    assert slack(2 * A, P, 1.0) == 0.0
    most = max(δ for δ in np.geomspace(1e-4, 1, 60) if tolerates(A, P, δ, 1.0))
    assert 0.03 < most < 0.5
    for direction in (
        np.eye(2),
        -np.eye(2),
        np.array([[0, 1], [1, 0]]),
        np.array([[0, 1], [-1, 0]]),
    ):
        D = A + most * direction
        assert np.linalg.eigvalsh(P - D.T @ P @ D)[0] > 0
    assert not tolerates(A, P, 1.0, 1.0)


def test_common_matrix_of_a_switching_pair():
    """Triangular pairs share a quadratic form; two stable spirals that switching can make grow do not."""
    pair = [np.array([[-1, 4.0], [0, -2]]), np.array([[-3, -1.0], [0, -0.5]])]
    found = Certificate(tuple(pair), common_matrix(pair))
    assert found.check() and recheck(found.document())[0]
    wild = [np.array([[-0.1, 1.0], [-10, -0.1]]), np.array([[-0.1, 10.0], [-1, -0.1]])]
    P = common_matrix(wild)
    assert P is None or not Certificate(tuple(wild), P).check()


# ---- the re-checker


@pytest.mark.parametrize("T, radius", [(None, None), (0.03, None), (None, 1e-4), (0.03, 1e-4)])
def test_recheck_accepts_what_holds(T, radius, tmp_path):
    found = certify(stable(4, 8, T), T, radius)
    accepted, words = recheck(json.loads(json.dumps(found.document())))
    assert accepted, words
    found.save(tmp_path / "c.json")
    done = subprocess.run(
        [sys.executable, "-I", str(Path(standalone.__file__)), str(tmp_path / "c.json")],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == 0 and done.stdout.startswith("accepted")


def test_recheck_refuses_what_was_tampered_with():
    found = certify(stable(4, 8, 0.03), 0.03).document()
    more = lambda text, k: (float.fromhex(text) * k).hex()

    def changed(**parts):
        return {**json.loads(json.dumps(found)), **parts}

    A, P = found["matrices"][0], found["P"]
    flipped = [[more(v, -1) for v in row] for row in P]
    lopsided = [
        [more(v, 1 + 1e-12 * (i > j)) for j, v in enumerate(row)] for i, row in enumerate(P)
    ]
    cases = [
        changed(P=flipped),
        changed(P=lopsided),
        changed(rate=(0.08).hex()),
        changed(rate=(-0.01).hex()),
        changed(time="continuous"),
        changed(matrices=[]),
        changed(matrices=[[[more(v, 1.1) for v in row] for row in A]]),
        changed(matrices=[A, flipped]),
        changed(P=P[:3]),
        changed(P=[[float.fromhex(v) for v in row] for row in P]),
        changed(format="other"),
        changed(rate="nan"),
        changed(rate="1e-3"),
        {},
        [],
        None,
    ]
    for case in cases:
        assert not recheck(case)[0]


def test_recheck_is_alone():
    """It imports nothing but Python's own json, sys and fractions."""
    import ast

    tree = ast.parse(Path(standalone.__file__).read_text(encoding="utf-8"))
    found = {a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names}
    found |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert found == {"json", "sys", "fractions"}


@pytest.mark.parametrize("decay", [1e-303, 1e-202, 1e-45, 1e-39])
def test_a_mode_that_is_much_faster_than_a_sample_takes_no_part(decay):
    """Beside two ordinary states one that a sample leaves e⁻⁷⁰⁰ of, which drives them: a certificate, no error."""
    A = np.array([[0.9, 0.1, 0.0], [-0.1, 0.9, 1e-6], [0.0, 0.0, decay]])
    found = certify(A, 2e-4)
    assert found is not None and found.check() and found.rate > 0.05
    d = balancing(A)
    assert d.max() / d.min() < 1e41 and np.array_equal(np.log2(d), np.round(np.log2(d)))


def test_entries_that_are_small_in_their_units_are_balanced():
    """Oil's stiffness in Pa against metres: entries of 1e-13 and 1e11 count, and become alike."""
    A = np.array([[0.5, 1e-13], [1e11, 0.4]])
    d = balancing(A)
    like = np.abs(A * d / d[:, None])
    assert 1e-2 < like[0, 1] / like[1, 0] < 100


def test_no_matrix_is_common_where_the_solver_gives_no_numbers(monkeypatch):
    """Coordinates beyond the range of floats: nothing is found, which is no error."""
    monkeypatch.setattr(lyapunov, "coordinates", lambda A, T: np.diag([1e200, 1.0]))
    assert common_matrix([np.diag([-1.0, -2.0])]) is None
