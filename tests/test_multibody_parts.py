"""Parts of mechanisms alone, by hand: planar loops, assemblies left open, rows and steps, lengths and strokes of rams."""

from dataclasses import dataclass, replace
from math import cos, pi, sin, sqrt
from types import SimpleNamespace

import mechanisms as made
import numpy as np
import pytest

from plants.multibody import assembly, planar
from plants.multibody.parts import Actuator, Pin, Place
from plants.multibody.strokes import _arms, _inside, _left, _lengths, strokes


# ---- planar loops ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("branch", [1, -1])
def test_two_circles_meet_on_either_side(branch):
    """w with |w|² = p and |c + w|² = q, on the side of −c that the branch says; room is zero where they touch."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        c, w = rng.normal(size=2), rng.normal(size=2)
        found, room = planar.two_circles(c, w @ w, (c + w) @ (c + w), branch)
        found = np.array(found)
        assert found @ found == pytest.approx(w @ w)
        assert (c + found) @ (c + found) == pytest.approx((c + w) @ (c + w))
        side = c[0] * found[1] - c[1] * found[0]
        assert side * branch > 0 and room == pytest.approx((side / (c @ c)) ** 2)
    assert planar.two_circles([2.0, 0.0], 1.0, 9.0, 1)[1] == pytest.approx(0.0)
    with np.errstate(invalid="ignore"):
        assert planar.two_circles([2.0, 0.0], 1.0, 9.5, 1)[1] < 0


@pytest.mark.parametrize("branch", [1, -1])
def test_a_line_meets_a_circle_before_or_after_its_middle(branch):
    rng = np.random.default_rng(2)
    for _ in range(20):
        c, D, d = rng.normal(size=2), rng.normal(size=2), rng.normal()
        p = (c + d * D) @ (c + d * D)
        found, room = planar.line_and_circle(c, D, p, branch)
        assert (c + found * D) @ (c + found * D) == pytest.approx(p)
        middle = -(c @ D) / (D @ D)
        assert (found - middle) * branch >= 0 and room == pytest.approx((found - middle) ** 2)


def test_angles_between_vectors():
    """R(θ) a ∥ b within half a turn of the quarter it starts near; cosine and sine of it for vectors of one length."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        a, θ = rng.normal(size=2), rng.uniform(-pi, pi)
        b = np.array(planar.rotated(cos(θ), sin(θ), a))
        assert b == pytest.approx([cos(θ) * a[0] - sin(θ) * a[1], sin(θ) * a[0] + cos(θ) * a[1]])
        assert planar._between(a, b) == pytest.approx((cos(θ), sin(θ)))
        for quarter in (-3, -1, 0, 1, 2, 5):
            found = planar.turning(a, 3 * b, quarter)
            assert abs(found - quarter * pi / 2) <= pi + 1e-12
            assert (found - θ) / (2 * pi) == pytest.approx(round((found - θ) / (2 * pi)), abs=1e-9)
    assert planar.direction(0.3) == (pytest.approx(cos(0.3)), pytest.approx(sin(0.3)))


# ---- assembly and strokes -----------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Cut:
    """A loop that an assembly leaves open."""

    name: str
    joint: str
    a: Place
    b: Place


def left_open(gaps, held=()):
    """The message for loops with these residuals, all rows of a revolute joint."""
    loops = tuple(
        Cut(f"L{i}", "revolute", Place(f"a{i}", name="pin"), Place("ground")) for i in range(3)
    )
    bodies = [SimpleNamespace(name=f"b{i}", hold=i in held) for i in range(3)]
    asked = SimpleNamespace(
        loops=loops, bodies=bodies, constraints=lambda z: (np.concatenate(gaps), None)
    )
    return assembly._open(asked, None)


def test_the_loop_that_is_left_open_widest_is_named():
    """A gap in m where the points are apart by more than the axes are askew; both ends by name; what is held."""
    small = np.array([1e-3, 0.0, 0.0, 0.0, 0.0])
    wide = np.array([0.0, -0.3, 0.4, 0.2, 0.0])
    askew = np.array([0.03, 0.04, 0.0, 0.0, -0.6])
    why = left_open((small, wide, small))
    assert why.message.startswith("loops.L1: cannot be closed; 0.5 m stay open between a1.pin at")
    assert "held" not in why.mend
    why = left_open((small, wide, askew), held=(0, 2))
    assert why.message.startswith("loops.L2: cannot be closed; 0.6 m (or rad) stay open")
    assert why.mend.endswith("; b0, b2 held")
    assert left_open((wide, small, askew / 10)).message.startswith("loops.L0")


def test_independent_rows_are_as_many_as_the_rank_and_the_longest_first():
    rng = np.random.default_rng(4)
    base = rng.normal(size=(2, 4))
    G = np.vstack([1e-3 * base[0], base[0] + base[1], 5 * base[1], 2 * base[0]])
    kept = assembly.independent(G)
    assert len(kept) == 2 and 0 not in kept
    assert np.linalg.matrix_rank(G[list(kept)]) == 2
    assert assembly.independent(np.diag([1.0, 1e-12, 2.0])) == (0, 2)
    assert assembly.independent(np.zeros((0, 3))) == ()


def test_the_shortest_step_is_so_in_the_metric_of_the_mass():
    """Least δᵀ W⁻¹ δ with G δ = g: δ = W Gᵀ (G W Gᵀ)⁻¹ g; damped steps go the same way and less far."""
    rng = np.random.default_rng(5)
    half = rng.normal(size=(4, 4))
    W, G, g = half @ half.T + np.eye(4), rng.normal(size=(2, 4)), rng.normal(size=2)
    wanted = W @ G.T @ np.linalg.solve(G @ W @ G.T, g)
    assert assembly.shortest(G, W, g) == pytest.approx(wanted)
    twice = np.vstack([G, G[0] + G[1]])
    assert assembly.shortest(twice, W, np.append(g, g.sum())) == pytest.approx(wanted)
    assert assembly._damped(G, g, 0.0) == pytest.approx(np.linalg.pinv(G) @ g)
    σ = np.linalg.svd(G, compute_uv=False).max()
    λ = 0.37 * σ**2
    wanted = G.T @ np.linalg.solve(G @ G.T + λ * np.eye(2), g)
    assert assembly._damped(G, g, 0.37) == pytest.approx(wanted)


def test_a_size_is_the_farthest_place():
    bars = made.four_bar()
    z = list(bars.assembly.z)
    assert assembly._size(bars, z) == pytest.approx(10.0)  # the rocker's bearing on the ground
    assert assembly._size(made.lift(), [0.3]) == pytest.approx(0.3)
    assert assembly._size(made.lift(), [0.0]) == 1e-3


def two_rams():
    """Two bars in a row with a ram from the ground to each: both lengths depend on the first joint, one on the second."""
    ends = (Pin("ground", (-0.7, 0.2, 0.0)), Pin("lower", (0.9, -0.1, 0.0)))
    onto = (Pin("ground", (0.8, -0.6, 0.0)), Pin("upper", (0.5, 0.3, 0.0)))
    return made.Mechanism(
        (
            made.bar("lower", "ground", 1.3, 20.0, start="50 deg"),
            made.bar("upper", "lower", 0.8, 9.0, point=(1.3, 0.0, 0.0), start="-30 deg"),
        ),
        actuators=(Actuator("one", made.Force(), *ends), Actuator("two", made.Force(), *onto)),
    )


def lengths_by_hand(θ, φ):
    def turned(angle, x, y):
        return np.array([cos(angle) * x - sin(angle) * y, sin(angle) * x + cos(angle) * y])

    one = turned(θ, 0.9, -0.1) - [-0.7, 0.2]
    two = turned(θ, 1.3, 0.0) + turned(θ + φ, 0.5, 0.3) - [0.8, -0.6]
    return np.array([np.hypot(*one), np.hypot(*two)])


def test_lengths_and_lever_arms_of_every_ram():
    """s by the pins' places, ∂s/∂z by differences of that: each ram its own row, and one for each joint."""
    rams = two_rams()
    for θ, φ in ((0.9, -0.5), (0.3, 0.8)):
        s, S = _lengths(rams, [θ, φ])
        assert s == pytest.approx(lengths_by_hand(θ, φ))
        h = 1e-6
        first = (lengths_by_hand(θ + h, φ) - lengths_by_hand(θ - h, φ)) / (2 * h)
        second = (lengths_by_hand(θ, φ + h) - lengths_by_hand(θ, φ - h)) / (2 * h)
        assert pytest.approx(np.column_stack([first, second]), abs=1e-8) == S
        assert S[0, 1] == pytest.approx(0.0, abs=1e-12)
        _, N, L = _arms(rams, [θ, φ])
        assert pytest.approx(np.eye(2)) == N and pytest.approx(S) == L


def test_arms_of_a_loop_are_per_rate_that_it_allows():
    bars = made.four_bar()
    z = list(bars.assembly.z)
    s, N, L = _arms(bars, z)
    _, G = bars.constraints(z)
    assert N.shape == (3, 1) and np.abs(np.array(G, float).reshape(-1, 3) @ N).max() < 1e-9
    assert L[0, 0] == pytest.approx(_lengths(bars, z)[1][0] @ N[:, 0])
    assert s[0] == pytest.approx(sqrt(3.0))  # pins 1 m to both sides of the crank's bearing, at 60°


@pytest.mark.parametrize(
    "s, there, share",
    [
        ([0.5, 0.5], [0.6, 0.5], 5.0),
        ([0.5, 0.5], [1.5, 0.5], 0.5),
        ([0.5, 0.5], [-0.5, 0.5], 0.3 / 1.0),
        ([0.5, 0.5], [0.7, 1.7], 0.25),
        ([1.2, 0.5], [1.3, 0.5], 0.0),
        ([0.5, 0.5], [0.5, 0.5], np.inf),
        ([0.5, 0.5], [0.5, 0.1], np.inf),
    ],
)
def test_how_much_of_a_step_stays_in_the_spans(s, there, share):
    """Spans 0.2 … 1 and up to 0.8 m without a shortest: the share after which the first of both leaves its span."""
    spans = np.array([[0.2, 1.0], [-np.inf, 0.8]])
    assert _left(spans, np.array(s), np.array(there)) == pytest.approx(share)


def test_a_stroke_goes_from_end_to_end_of_its_span():
    rams = two_rams()
    start = lengths_by_hand(*rams.assembly.z)
    one, two = rams.actuators
    low, high = start[0] - 0.06, start[0] + 0.04
    spanned = replace(one, shortest=low, longest=high) if hasattr(one, "shortest") else None
    if spanned is None:
        pytest.skip("spans are given in another way")
    (found,) = strokes(replace(rams, actuators=(spanned, two)))
    assert found.name == "one" and found.dead_at == ()
    assert found.lengths[0] == pytest.approx(low) and found.lengths[-1] == pytest.approx(high)
    assert np.all(np.diff(found.lengths) > 0)
    for s, z in zip(found.lengths, found.positions):
        both = lengths_by_hand(*z)
        assert both[0] == pytest.approx(s) and both[1] == pytest.approx(start[1], abs=0.02)
    assert _inside(1.0, 0.5) == pytest.approx(0.99) and _inside(0.2, 0.5) == pytest.approx(0.206)
