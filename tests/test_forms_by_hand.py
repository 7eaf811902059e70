"""Linear forms beside a run, by hand: products, quotients, kinks and jumps of forms that are written down, at their worst."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from workbench import InputError
from workbench.verification.tube import claim_settings as asked
from workbench.verification.tube.checker import form as module
from workbench.verification.tube.checker.form import Form, absolute, stepped
from workbench.verification.tube.checker.interval import Interval


class Box:
    """A set of which a line says Σ |entries|; κ of a kink in columns of its own."""

    γ = 0.0

    def __init__(self, shared=None):
        self.given = shared

    def along(self, line):
        return np.abs(line).sum(axis=1)

    def nothing(self):
        return np.zeros((2, 2))

    def shared(self, a, b):
        return self.given


def known(at, line, rest, of):
    """A form in two rows around `at`, with this line (rows, 2) and this rest."""
    at, line, rest = np.array(at), np.array(line), np.array(rest)
    wide = np.abs(line).sum(axis=1) + rest
    value = Interval(np.nextafter(at - wide, -np.inf), np.nextafter(at + wide, np.inf))
    return Form(value, Interval(at), line, rest, np.zeros(2), of)


BOX = Box()
F = known([3.0, -2.0], [[0.5, -0.25], [0.125, 0.5]], [0.0625, 0.25], BOX)
G = known([5.0, 1.5], [[-0.25, 0.5], [0.25, 0.125]], [0.125, 0.03125], BOX)
CORNERS = list(product((-1.0, 1.0), repeat=4))


def off(found, exact):
    """By how much, at most, f(x) − f(c) − a·κ is off at corners of κ and of both remainders, beside `rest`; (2,) each."""
    worst = np.zeros(2)
    for *κ, δ, ε in CORNERS:
        f = F.at.mid + F.line @ κ + δ * F.rest
        g = G.at.mid + G.line @ κ + ε * G.rest
        worst = np.maximum(worst, np.abs(exact(f, g) - exact(F.at.mid, G.at.mid) - found.line @ κ))
        assert ((found.value.lo <= exact(f, g)) & (exact(f, g) <= found.value.hi)).all()
    return worst, found.rest


@pytest.mark.parametrize(
    "made, exact, most",
    [
        (lambda: F * G, lambda f, g: f * g, 1.3),
        (lambda: F / G, lambda f, g: f / g, 2.0),
        (lambda: F + G, lambda f, g: f + g, 1.0),
        (lambda: F - G, lambda f, g: f - g, 1.0),
        (lambda: module.square(G), lambda f, g: g * g, 1.6),
        (lambda: F.times(Interval(-3.0)), lambda f, g: -3 * f, 1.0),
    ],
)
def test_what_a_line_leaves_out_is_in_the_remainder_and_it_is_hardly_more(made, exact, most):
    """Of forms whose remainders matter: each part of both of them is counted."""
    worst, rest = off(made(), exact)
    assert (worst <= rest * (1 + 1e-12)).all() and (rest <= most * worst * (1 + 1e-9)).all()


def test_the_remainder_of_a_product_has_four_parts():
    """|m_g| ρ_f + |f(c)| ρ_g + rad(g) r_f, where f(c) is known exactly."""
    found = F * G
    r = np.abs(F.line).sum(axis=1) + F.rest
    s = np.abs(G.line).sum(axis=1) + G.rest
    m, k = np.array([5.0, 1.5]), np.array([3.0, -2.0])
    assert found.rest == pytest.approx(np.abs(m) * F.rest + np.abs(k) * G.rest + s * r, rel=1e-12)
    assert found.line == pytest.approx(F.line * m[:, None] + G.line * k[:, None], rel=1e-12)
    wide = known([3.0, -2.0], F.line, F.rest, BOX)
    wide.at = Interval(np.array([2.75, -2.0]), np.array([3.25, -2.0]))
    assert (wide * G).rest[0] == pytest.approx(found.rest[0] + 0.25 * s[0] + s[0] * 0.0, rel=1e-12)


@pytest.mark.parametrize(
    "low, high, nothing",
    [(0.0, 0.0, True), (0.0, 1.0, False), (-1.0, 0.0, False), (2.0, 2.0, False)],
)
def test_times_nothing_is_nothing_and_times_a_number_is_wider_by_what_that_is_off(
    low, high, nothing
):
    """|m| ρ + rad (2 size + ρ)."""
    one = Form(F.value, F.at, F.line, F.rest, np.array([3.0, 7.0]), BOX)
    found = one.times(Interval(low, high))
    if nothing:
        assert found.same and found.value.lo == found.value.hi == 0.0
        return
    m, wide = abs(low + high) / 2, (high - low) / 2
    assert found.rest == pytest.approx(m * F.rest + wide * (2 * one.size + F.rest), rel=1e-12)
    assert found.line == pytest.approx(F.line * (low + high) / 2) and found.size == pytest.approx(
        m * one.size
    )


def test_a_size_at_a_kink_has_twice_its_number():
    """|f| = 2 max(f, 0) − f: slope 2 m − 1, and twice the number that a kink leaves open, of either sign."""
    m, κ = np.array([0.75, 1.0]), np.array([[0.5, 0.0], [-0.25, 0.0]])
    one = known([0.125, 4.0], [[0.5, -0.25], [0.5, 0.25]], [0.0625, 0.25], Box((m, κ)))
    one.size = np.array([3.0, 5.0])
    found = absolute(one)
    assert found.line == pytest.approx(one.line * [[0.5], [1.0]] + 2 * κ)
    assert found.size == pytest.approx([0.5 * 3.0 + 1.0, 5.0 + 0.5])
    assert found.rest == pytest.approx([0.5 * 0.0625, 0.25])
    assert found.at.lo.tolist() == [0.125, 4.0]
    away = absolute(known([4.0, -4.0], one.line, one.rest, Box((np.array([1.0, 0.0]), None))))
    assert away.line == pytest.approx(one.line * [[1.0], [-1.0]]) and away.rest == pytest.approx(
        one.rest
    )


def test_of_a_value_that_jumps_nothing_is_known_unless_it_is_one_number():
    value = Interval(np.array([1.0, -1.0]), np.array([1.0, 1.0]))
    found = stepped(value, Form(Interval(2.0)), F)
    assert found.rest.tolist() == [0.0, np.inf] and not found.line.any() and found.of is BOX
    assert stepped(value, Form(Interval(2.0))).same


# ---- dead times between bounds -----------------------------------------------------------------------------------------------
NEAR = asked.WHOLE * 0.5


@pytest.mark.parametrize(
    "low, high, fits",
    [
        (0.1, 0.3, True), (0.25, 0.25, True), (0.2501, 0.3, False), (0.1, 0.2499, False), (0.0, 0.3, False),
        (0.99 * NEAR, 0.3, False), (2 * NEAR, 0.3, True), (0.1, 0.5 - 0.5 * NEAR, False), (0.1, 0.5 - 2 * NEAR, True),
        (0.1, 0.6, False),
    ],
)  # fmt: skip
def test_a_dead_time_stays_within_the_sample_that_the_runs_own_ends_in(low, high, fits):
    """T = 0.5 s, a delay of two samples and 0.25 s."""
    loop = SimpleNamespace(lag=0.25, period=0.5, controller=SimpleNamespace(delay=1.25))
    claim = SimpleNamespace(delay=(1.0 + low, 1.0 + high))
    if fits:
        found = asked.late(claim, loop)
        assert (found.lag, found.period) == (0.25, 0.5)
        assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))
        return
    with pytest.raises(InputError, match="delay: expected bounds around 1.25 s"):
        asked.late(claim, loop)


def test_a_dead_time_that_is_not_stated_or_not_there():
    loop = SimpleNamespace(lag=0.0, period=0.5, controller=SimpleNamespace(delay=1.0))
    assert asked.late(SimpleNamespace(delay=None), loop) is None
    with pytest.raises(InputError, match="delay: the run has none that ends between two samples"):
        asked.late(SimpleNamespace(delay=(0.1, 0.2)), loop)
