"""Which samples an interval holds, sample by sample as the definition says, on even and uneven grids, with jumps, at the ends."""

import numpy as np
import pytest

from workbench.verification.temporal.syntax import Interval
from workbench.verification.temporal.windows import ROUNDING, Instants, largest, least, sustained

INF = np.inf
JUMP = np.array([0.0, 0.1, 0.25, 0.25, 0.6, 0.7, 1.0])
GRIDS = {
    "even": 0.1 * np.arange(12),
    "shifted": 3.7 + 0.1 * np.arange(9),
    "uneven": np.array([0.0, 0.1, 0.15, 0.4, 0.9, 1.0]),
    "jump": JUMP,
    "one": np.array([2.0]),
}
INTERVALS = [(0.0, 0.0), (0.0, 0.3), (0.1, 0.3), (0.12, 0.18), (0.3, 0.3), (0.2, INF), (0.0, INF)]
INTERVALS += [(0.05, 0.05), (5.0, 6.0), (5.0, INF), (0.6, 1.1)]


def near(t):
    """A millionth of the shortest step."""
    steps = [b - a for a, b in zip(t, t[1:]) if b > a]
    return 1e-6 * min(steps, default=0.0)


def future(t, k, a, b, complete):
    """(samples, whether it goes on beyond): all t_j from t_k + a to t_k + b from k on, or the one that stands there."""
    s = near(t)
    held = [j for j in range(k, len(t)) if t[k] + a - s <= t[j] <= t[k] + b + s]
    gone = t[k] + a > t[-1] + s
    if not held and not gone:
        held = [max(j for j in range(len(t)) if t[j] <= t[k] + b + s)]
    beyond = gone or not complete if b == INF else t[k] + b > t[-1] + s
    return held, beyond


def past(t, k, a, b):
    s = near(t)
    held = [j for j in range(k + 1) if t[k] - b - s <= t[j] <= t[k] - a + s]
    before = [j for j in range(k + 1) if t[j] <= t[k] - a + s]
    return held or before[-1:]


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("a, b", INTERVALS)
def test_samples_of_an_interval_ahead_and_behind(grid, a, b, complete):
    t = GRIDS[grid]
    ahead = Instants(t, complete).window(Interval(a, b), past=False)
    behind = Instants(t, complete).window(Interval(a, b), past=True)
    for k in range(len(t)):
        held, beyond = future(t, k, a, b, complete)
        found = list(range(ahead.first[k], ahead.last[k] + 1))
        assert found == held and ahead.beyond[k] == beyond
        found = list(range(behind.first[k], behind.last[k] + 1))
        assert found == past(t, k, a, b) and not behind.beyond[k]


@pytest.mark.parametrize("grid", ["even", "uneven"])
@pytest.mark.parametrize("off, counts", [(0.5e-6, True), (-0.5e-6, True), (3e-6, False)])
def test_a_sample_counts_as_at_an_end_within_a_millionth_of_a_step(grid, off, counts):
    """An end a little before a sample reaches it, a beginning a little after one still holds it, within 1e-6 of a step only."""
    t = GRIDS[grid]
    step = 1e6 * near(t)
    to = float(t[3] - t[0])
    ends = Instants(t).window(Interval(0.0, to - off * step), past=False)
    assert ends.last[0] == (3 if counts or off < 0 else 2)
    begins = Instants(t).window(Interval(to + off * step, 9.0), past=False)
    assert begins.first[0] == (3 if counts or off < 0 else 4)
    last = Instants(t).window(Interval(float(t[-1] - t[0]) + off * step, INF), past=False)
    assert bool(last.beyond[0]) is not counts
    closed = Instants(t).window(Interval(0.0, float(t[-1] - t[0]) + off * step), past=False)
    assert bool(closed.beyond[0]) is not counts
    assert ROUNDING == 1e-6


def test_steps_of_a_grid():
    """One distance where it is one to half a millionth, none where not; slack is that of the shortest step that is one."""
    assert Instants(GRIDS["even"]).step == pytest.approx(0.1)
    assert Instants(GRIDS["uneven"]).step is None and Instants(JUMP).step is None
    assert Instants(GRIDS["one"]).step is None and Instants(np.array([1.0, 1.0])).step is None
    assert Instants(JUMP).slack == pytest.approx(1e-7) and Instants(GRIDS["one"]).slack == 0.0
    bent = GRIDS["even"].copy()
    bent[5] += 4e-8
    assert Instants(bent).step is not None
    bent[5] += 4e-8
    assert Instants(bent).step is None


@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_extremes_over_any_intervals(n):
    rng = np.random.default_rng(n)
    values = rng.normal(size=n)
    first, last = rng.integers(0, n, (2, 300))
    last = np.where(rng.uniform(size=300) < 0.2, n - 1, last)
    first = np.where(rng.uniform(size=300) < 0.2, 0, first)
    low, high = least(values, first, last), largest(values, first, last)
    for a, b, found, most in zip(first, last, low, high):
        assert found == min(values[a : b + 1], default=INF)
        assert most == max(values[a : b + 1], default=-INF)


@pytest.mark.parametrize("ahead", [INF, -INF])
def test_what_is_sustained_until_something_else(ahead):
    """max over the window of min(right_j, left_k … left_{j−1}), and where it goes on, of what follows the last sample."""
    rng = np.random.default_rng(3)
    t = np.sort(rng.uniform(0, 1, 14))
    left, right = rng.normal(size=(2, 14))
    for a, b in ((0.0, 0.2), (0.1, 0.4), (0.0, INF), (0.3, 0.3), (2.0, 3.0)):
        window = Instants(t, False).window(Interval(a, b), past=False)
        found = sustained(left, right, window, ahead)
        for k in range(14):
            tried = [
                min([right[j], *left[k:j]]) for j in range(window.first[k], window.last[k] + 1)
            ]
            if window.beyond[k]:
                tried.append(min([ahead, *left[k:]]))
            assert found[k] == max(tried, default=-INF)
