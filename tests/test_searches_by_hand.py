"""Branch and bound with answers that are given: what is settled, where boxes are cut, and bounds that hold to the last digit."""

from fractions import Fraction
from types import SimpleNamespace

import control
import numpy as np
import pytest

from workbench.verification.linear import delay_margin as D
from workbench.verification.regions.sector import Sector
from workbench.verification.regions.sector_search import search, sector_stability
from workbench.verification.rigorous.motion_sample import Sample
from workbench.verification.rigorous.supplied_search import SHOTS, Search


# ---- which boxes of a supplied certificate are settled -----------------------------------------------------------------------
def opened(boxes, values, falls, top=np.inf, γ=5.0, stays=True, core=None):
    """(open, weights) of intervals of one state around zero, a ball of 0.1; own weights 7, those of the fall 9."""
    low, high = (np.array([[b[i]] for b in boxes], float) for i in (0, 1))
    values, falls = np.array(values, float), np.array(falls, float)
    asked = []

    def over(a, b):
        at = [boxes.index((x, y)) for x, y in zip(a[:, 0], b[:, 0])]
        asked.append(at)
        return values[at], None, np.full((len(at), 1), 7.0)

    def change(a, b):
        at = [boxes.index((x, y)) for x, y in zip(a[:, 0], b[:, 0])]
        return None, falls[at], np.full((len(at), 1), 9.0), len(at)

    own = SimpleNamespace(
        c=np.zeros(1),
        r=np.full(1, 0.1),
        low=np.full(1, -2.0),
        high=np.full(1, 2.0),
        core=core,
        motion=SimpleNamespace(V=SimpleNamespace(over=over), change=change),
        _stays=lambda count: np.full(count, stays),
    )
    found, weights = Search._open(own, low, high, top, γ)
    return found.tolist(), weights[:, 0].tolist(), asked


def test_a_box_is_settled_where_v_is_positive_and_falls():
    """In this order: both; V not above zero; no fall; both at zero."""
    boxes = [(1.0, 1.5), (0.5, 1.0), (-1.0, -0.5), (1.5, 2.0)]
    found, weights, _ = opened(boxes, [1.0, 0.0, 2.0, 0.5], [-1.0, -2.0, 0.0, 0.25])
    assert found == [False, True, True, True]
    assert weights == [7.0, 7.0, 9.0, 9.0]


def test_a_box_inside_the_ball_or_above_the_level_is_not_asked():
    """At the ball's edge it is inside; at the level it is not above. Weights of what nobody asks are its widths."""
    boxes = [(-0.05, 0.05), (-0.1, 0.1), (0.05, 0.25), (1.0, 2.0), (-2.0, -1.0)]
    found, weights, asked = opened(
        boxes, [1.0, 1.0, -1.0, 3.0, 3.5], [1.0, 1.0, 1.0, 1.0, -1.0], top=3.0
    )
    assert found[0] is False and found[2:] == [True, True, False]
    assert 3 in asked[0] and 4 in asked[0] and 0 not in asked[0]
    assert weights[0] == pytest.approx(0.1 / 4) and weights[4] == pytest.approx(1 / 4)
    assert opened([(-0.05, 0.05)], [1.0], [1.0]) == ([False], [pytest.approx(0.1 / 4)], [])


def test_a_box_inside_the_core_is_settled_and_one_that_sticks_out_on_either_side_is_not():
    """With the core's own ends; the ball is apart."""
    core = np.array([-1.0]), np.array([1.25])
    boxes = [(-1.0, 1.25), (-1.0, 0.5), (0.75, 1.25), (-1.125, 0.5), (0.75, 1.375)]
    found, _, _ = opened(boxes, [1.0] * 5, [1.0] * 5, core=core)
    assert found == [False, False, False, True, True]
    assert opened(boxes, [1.0] * 5, [1.0] * 5)[0] == [True] * 5


def test_a_step_may_leave_the_box_from_above_the_level_alone():
    boxes = [(1.0, 1.5), (0.5, 1.0), (-1.0, -0.5)]
    values, falls = [4.0, 5.0, 6.0], [-1.0] * 3
    assert opened(boxes, values, falls, stays=False)[0] == [True, True, False]
    assert opened(boxes, values, falls, stays=True)[0] == [False] * 3


def test_shots_go_along_the_bends_both_ways_and_each_half_as_far():
    """A centre off the middle: no shot leaves the box, and each way is tried six times, each half of the one before."""
    bend = np.array([[0.25, -0.5]])
    own = SimpleNamespace(
        n=2,
        low=np.array([-1.0, -2.0, 3.0]),
        high=np.array([3.0, 4.0, 5.0]),
        c=np.array([0.5, 1.5]),
        motion=SimpleNamespace(curved=(SimpleNamespace(bends=lambda low, high, c: bend),)),
    )
    shots = Search._shots(own)
    ways = SHOTS + 2
    assert shots.shape == (6 * ways, 3)
    for k in range(6):
        ahead, back = shots[k * ways + SHOTS : k * ways + SHOTS + 2, :2]
        assert ahead == pytest.approx(own.c + bend[0] / 2**k)
        assert back == pytest.approx(own.c - bend[0] / 2**k)
    assert (shots >= own.low).all() and (shots <= own.high).all()
    assert shots[:, 2].min() < 3.1 and shots[:, 2].max() > 4.9
    size = np.abs(shots[:SHOTS, :2] - own.c)
    assert (size <= [2.0, 3.0]).all() and (size.max(axis=0) > [1.9, 2.4]).all()


# ---- boxes of a delay margin -------------------------------------------------------------------------------------------------
def margin(monkeypatch, over, delay=0.0, boxes=D.BOXES, first=None):
    """(what a search finds, the boxes it asked for) where a response is given; a sample is one second."""
    asked = []

    def seen(self, θ, τ):
        asked.append((θ, τ))
        return over(θ, τ)

    monkeypatch.setattr(
        D, "_Response", type("Given", (), {"__init__": lambda s, c: None, "over": seen})
    )
    if first is not None:
        monkeypatch.setattr(D, "_first", first)
    one = np.ones((1, 1))
    return D.delay_margin(D.LateCommand(one, one[0], one, one[0], one, 1.0, delay), boxes), asked


@pytest.mark.parametrize(
    "N, by_θ, by_τ, S, of_S, ended",
    [
        (3.0, 0.5, 0.25, 2.0, 0.125, True),
        (3.0, 0.5, 0.375, 2.0, 0.125, False),
        (2.0, 0.25, 0.5, 3.0, 0.125, True),
        (2.0, 0.375, 0.5, 3.0, 0.125, False),
        (-3.0, 0.5, 0.25, -2.0j, 0.125, True),
        (2.0, 0.5, 0.25, 3.0, 0.25, False),
    ],
)
def test_a_box_is_done_where_both_sizes_differ_by_more_than_all_errors(
    monkeypatch, N, by_θ, by_τ, S, of_S, ended
):
    first = lambda c, θ, τ, *rest: 0.0
    found, asked = margin(monkeypatch, lambda θ, τ: (N, by_θ, by_τ, S, of_S), boxes=1, first=first)
    assert asked == [((0.0, np.pi), (0.0, 1.0))]
    assert found == (D.DelayMargin(np.inf, True, 1) if ended else D.DelayMargin(0.0, False, 1))


@pytest.mark.parametrize(
    "by_θ, by_τ, of_S, along",
    [(0.25, 0.5, 0.125, "τ"), (0.25, 0.375, 0.125, "θ"), (0.5, 0.375, 0.0, "θ")],
)
def test_a_box_is_halved_where_its_larger_error_comes_from(monkeypatch, by_θ, by_τ, of_S, along):
    """The error of S comes from θ, too; both errors alike are halved along θ."""
    found, asked = margin(
        monkeypatch,
        lambda θ, τ: (1.0, by_θ, by_τ, 1.0, of_S),
        boxes=3,
        first=lambda c, θ, τ, *rest: 0.0,
    )
    assert found == D.DelayMargin(0.0, False, 3)
    first_half, whole = ((0.0, np.pi / 2), (0.0, 1.0)), ((0.0, np.pi), (0.0, 0.5))
    assert asked[1] == (first_half if along == "θ" else whole)


def test_the_box_of_the_least_delay_is_next_and_a_known_one_ends_the_search(monkeypatch):
    """Errors as narrow as NARROW asks; the delay that the loop has already is not counted."""
    N, S = 4.0j, 4.0
    narrow = D.NARROW * 8.0 / 4

    def first(c, θ, τ, *rest):
        return 1.75

    edge = lambda θ, τ: (N, narrow, narrow, S, 2 * narrow)
    found, asked = margin(monkeypatch, edge, delay=1.25, first=first)
    assert found == D.DelayMargin(0.5, True, 2) and len(asked) == 2
    wider = lambda θ, τ: (N, narrow, narrow, S, 2.01 * narrow)
    assert not margin(monkeypatch, wider, delay=1.25, boxes=40, first=first)[0].found
    found, _ = margin(monkeypatch, edge, first=lambda *given: np.inf)
    assert found == D.DelayMargin(np.inf, True, 1)


# ---- sectors that do not begin at zero ---------------------------------------------------------------------------------------
THREE = control.ss(control.tf([1.0], [1.0, 6.0, 11.0, 6.0]))  # 1/((s + 1)(s + 2)(s + 3)): up to 60


@pytest.mark.parametrize("low, high", [(20.0, 58.0), (-5.0, 58.0), (35.0, 58.0)])
def test_a_sector_off_zero_is_proven_nearly_up_to_the_linear_limit(low, high):
    """Popov's limit is the linear one, 60; its multiplier counts from the lower line on."""
    own = Sector(THREE.A, THREE.B, THREE.C, low, high)
    found = search(own, "popov")
    assert found is not None and found.λ[0] > 0 and found.check()
    assert search(Sector(THREE.A, THREE.B, THREE.C, low, 62.0), "popov") is None


@pytest.mark.parametrize(
    "low, high, share, rate",
    [(-7.0, 10.0, "0", 0.161), (0.0, 200.0, "0.5", 0.4), (0.0, 100.0, "1", 0.4)],
)
def test_the_linear_gain_that_destabilises_is_named(low, high, share, rate):
    verdict = sector_stability(Sector(THREE.A, THREE.B, THREE.C, low, high))
    assert verdict.holds is False and verdict.unit == "1/s"
    assert verdict.worst.startswith(f"the linear gain {share} of the way from low to high: ")
    k = low + float(share) * (high - low)
    poles = np.roots([1.0, 6.0, 11.0, 6.0 + k])
    assert verdict.margin == pytest.approx(-poles.real.max(), rel=1e-9)


# ---- the remainder over a sample, to the last digit --------------------------------------------------------------------------
@pytest.mark.parametrize("period", [0.1, 0.003, 1 / 3, 7.7])
def test_the_remainder_holds_the_exact_products(period):
    """T b beyond rounding at either sign, T³/6 b likewise; and no wider than some units of the last digit."""
    rng = np.random.default_rng(5)
    ends = np.sort(rng.normal(size=(2, 400)), axis=0)
    yes = np.ones(400, bool)
    own = SimpleNamespace(period=period)
    low, high = Sample._remainder(own, ends, ends, ~yes)
    T = Fraction(period)
    for a, b, l, h in zip(*ends, low, high):
        assert Fraction(l) <= T * Fraction(a) and T * Fraction(b) <= Fraction(h)
        assert l == pytest.approx(period * a, rel=3e-15) and h == pytest.approx(
            period * b, rel=3e-15
        )
    low, high = Sample._remainder(own, ends, ends, yes)
    for a, b, l, h in zip(*ends, low, high):
        assert Fraction(l) <= T**3 / 6 * min(Fraction(a), Fraction(0))
        assert T**3 / 6 * max(Fraction(b), Fraction(0)) <= Fraction(h)
        assert l == pytest.approx(period**3 / 6 * min(a, 0), rel=2e-14)
        assert h == pytest.approx(period**3 / 6 * max(b, 0), rel=2e-14)
