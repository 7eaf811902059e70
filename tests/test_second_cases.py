"""Laws on cases off the origin: unequal ends, lags, memories and limits, where symmetry hides a swapped term."""

from fractions import Fraction
from types import SimpleNamespace

import casadi as ca
import control
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from controllers.vdc import force_rate
from plants.drives.compressible_rod import CompressibleRod
from workbench.verification.cause.badness import AT_LIMIT, share_at_limits
from workbench.verification.linear.family import continuous
from workbench.verification.linear.step_matrix import Matrices
from workbench.verification.probability import stopped
from workbench.verification.probability.fixed import Seen
from workbench.verification.probability.sequential import Sequence
from workbench.verification.regions.sector import Sector
from workbench.verification.regions.sector_search import search
from workbench.verification.tube.judged import unsettled


@pytest.mark.parametrize("kind", ["dirty", "difference"])
def test_memory_after_a_sample_follows_a_held_force_exactly(kind):
    """Two samples of unequal length leave what their sum leaves, and a short one what the flow says."""
    law = SimpleNamespace(derivative=kind, τ=0.04, cutoff=3.0)
    kept = [70.0, -20.0] if kind == "dirty" else [90.0, 40.0, 700.0, -300.0]
    f = [90.0, 40.0]  # of two actuators; the difference has seen them before
    halves = force_rate.after(law, 0.02, force_rate.after(law, 0.01, kept, f), f)
    assert halves == pytest.approx(force_rate.after(law, 0.03, kept, f), rel=1e-12)
    if kind == "dirty":
        short = (np.array(force_rate.after(law, 1e-7, kept, f)) - kept) / 1e-7
        assert short == pytest.approx(force_rate.flow(law, kept, f), rel=1e-4)


def test_a_sector_that_begins_elsewhere_is_the_shifted_loop():
    """φ(y) = 294.5 y + ψ(y): the certificate asks for the slope of ψ, 5.5, and not of φ, 300."""
    g = control.c2d(control.ss(control.tf([1.0], [1.0, 3.0, 3.0, 1.0])), 0.2)
    shift = 294.5
    A = g.A + shift * g.B @ g.C
    assert search(Sector(A, g.B, g.C, shift, shift + 5.5, 0.2, shift + 5.5), "jury-lee")
    assert not search(Sector(g.A, g.B, g.C, 0.0, 5.5, 0.2, 300.0), "jury-lee")


@pytest.mark.parametrize("jump, told", [(0.029, False), (0.031, True)])
def test_a_run_not_yet_on_what_repeats_misses_ten_times_as_much_there(jump, told):
    """Beside the largest of unequal misses (3e-3), far below one, each in its own unit."""
    scale = np.array([1.0, 1e4])
    defect = np.array([[1e-3, 0.0], [0.0, 30.0], [0.0, jump * 1e4], [2e-3, np.nan]])
    question = SimpleNamespace(
        scale=scale, tube=SimpleNamespace(after=[1, 2, 3], T=0.25), begins=0.5
    )
    found = SimpleNamespace(seen=SimpleNamespace(defect=defect))
    assert ("1.25 s" in unsettled(question, found)) is told


def test_both_ends_of_a_range_count_alike():
    """A command within a share of its range of either end; the range is not symmetric."""
    low, high = -2.0, 8.0
    edge = AT_LIMIT * (high - low)
    u = np.array([low + 0.9 * edge, high - 0.9 * edge, low + 1.1 * edge, 3.0, high - 1.1 * edge])
    assert share_at_limits(u, low, high) == share_at_limits(low + high - u, low, high) == 2 / 5
    assert share_at_limits(u[:1], low, high) == share_at_limits(u[1:2], low, high) == 1.0


def test_a_cover_reaches_both_ends_of_a_narrow_box():
    """In exact arithmetic, where the middle is rounded by as much as the box is wide."""
    family = continuous(("θ",), lambda θ: [[-θ[0]]])
    for n in range(1, 12):
        low = 1000.1
        high = low
        for _ in range(n):
            high = np.nextafter(high, np.inf)
        _, _, r = family.cover([low], [high])
        middle = Fraction(low + (high - low) / 2)
        assert middle - Fraction(r[0]) <= Fraction(low) and Fraction(high) <= middle + Fraction(
            r[0]
        )


@pytest.mark.parametrize("every", [0, 1, 10])
def test_runs_go_on_until_a_bound_decides(monkeypatch, every):
    """None violated, all, or one in ten where a tenth is allowed: the first batch that decides ends it, or none does."""
    at_most, share, most = 0.1, 0.01, 6 * 64
    violated = np.array([every > 0 and i % every == 0 for i in range(most)])
    monkeypatch.setattr(stopped, "draws", lambda *_: range(most))
    met = [~violated[i : i + 64, None] for i in range(0, most, 64)]
    parts = [Seen(part, np.ones_like(part)) for part in met]
    monkeypatch.setattr(stopped, "in_batches", lambda *_: iter(parts))
    monkeypatch.setattr(stopped, "told", lambda claim, every, seen, *_: len(seen))
    claim = SimpleNamespace(number=most, at_most=at_most, share=share, sentences=("one",))
    ends = {
        n: Sequence(at_most, share).interval(int(violated[:n].sum()), n)
        for n in range(64, most + 1, 64)
    }
    decided = [n for n, (low, high) in ends.items() if high <= at_most or low > at_most]
    assert bool(decided) is (every != 10)
    assert stopped.by_stopping(claim, None, lambda: None) == (decided or [most])[0]


def by_hand(loop, jac, S, project=None):
    """Matrices of constant slopes."""
    found = Matrices.__new__(Matrices)
    found.loop, found.S, found.c = loop, S, []
    found.jac = {name: lambda *_, J=J: [J] for name, J in jac.items()}
    found.traced = SimpleNamespace(project=project, **dict.fromkeys(jac))
    return found


def test_commands_released_late_act_from_then_on():
    """Columns of M, scaled: a small change flows, is released after the lag, flows on and jumps."""
    A = np.array([[-1.0, 4.0], [-3.0, 0.5]])
    jac = {
        "flow": A,
        "jump": np.array([[1.0, 0.0], [0.3, 0.2]]),
        "release": np.array([[1.0, 0.7], [0.0, 0.4]]),
    }
    S = np.array([2.0, 0.1])
    M = by_hand(SimpleNamespace(period=0.3, lag=0.1), jac, S).over_sample(
        0, *[np.zeros(2)] * 2, 0, 0
    )
    flown = lambda x, T: solve_ivp(lambda t, x: A @ x, (0, T), x, rtol=1e-10, atol=1e-13).y[:, -1]
    for k in range(2):
        begin = S * np.eye(2)[k]
        end = jac["jump"] @ flown(jac["release"] @ flown(begin, 0.1), 0.2)
        assert M[:, k] == pytest.approx(end / S, rel=1e-7)


def test_slopes_are_projected_on_the_constraint():
    """On a circle of radius 5 a radial change is none: P = (I − x xᵀ/25) · 2/5 for the projection on radius 2."""
    t, x, w, c = (ca.SX.sym(name, n) for name, n in (("t", 1), ("x", 2), ("w", 3), ("c", 0)))
    project = ca.Function("project", [t, x, w, c], [2 * x / ca.norm_2(x)])
    at = np.array([3.0, 4.0])
    A = np.array([[-1.0, 4.0], [-3.0, 0.5]])
    P = (np.eye(2) - np.outer(at, at) / 25) * 2 / 5
    found = by_hand(None, {"flow": A}, np.ones(2), project).slope("flow", 0.0, at, np.zeros(3))
    assert found == pytest.approx(P @ A @ P, rel=1e-12)


def test_a_relief_lets_out_and_a_suction_check_lets_in():
    """Slope G beyond either limit, nothing between."""
    out = lambda p: float(CompressibleRod.limited(SimpleNamespace(G=3.0), p, 20.0))
    assert [out(p) for p in (-4.0, 0.0, 7.0, 20.0, 25.0)] == [-12.0, 0.0, 0.0, 0.0, 15.0]
