"""References against closed forms, exact arithmetic, and their promise: C² everywhere, jerk jumps only where said."""

from dataclasses import FrozenInstanceError, replace
from fractions import Fraction
from math import comb, factorial, inf, pi

import numpy as np
import pytest

from workbench.contract.errors import InputError
from workbench.contract.parameters import leaves
from workbench.contract.system import Signal
from workbench.run.log import Log, Status
from workbench.run.reference import Hold, Sine, Waypoints
from workbench.run.spline import Spline

PATH = Waypoints(
    "cartesian",
    ((1.7, -0.4), (2.5, 1.0), (3.0, 1.5), (2.9, 1.5), (1.7, -0.4)),
    leg=(1.3, 0.7, 2.1, 0.9),
    dwell=0.35,
    repeat=2,
)
SINE = Sine("joint", (0.3, -1.1, 2.0), (0.2, 0.05, 0.7), 0.83, (0.4, -1.2, 2.3), 1.7)
RNG = np.random.default_rng(8)
SPLINE = Spline("piston", np.cumsum(RNG.uniform(0.2, 0.5, 12)), RNG.normal(size=(12, 2)))
ALL = [
    PATH,
    SINE,
    SPLINE,
    Hold("output", (3.1, 0.2)),
    Waypoints("joint", ((0.0,), (1.5,), (1.5,), (-0.5,)), 1.1),
]


def exact_leg(a, b, t0, T, t, order):
    """Derivatives of a + (b − a)(10τ³ − 15τ⁴ + 6τ⁵) in exact fractions."""
    a, b, t0, T, t = map(Fraction, (a, b, t0, T, t))
    τ = (t - t0) / T
    result = [a + (b - a) * (10 * τ**3 - 15 * τ**4 + 6 * τ**5)]
    for k in range(1, order + 1):
        terms = [
            c * factorial(p) // factorial(p - k) * τ ** (p - k)
            for p, c in ((3, 10), (4, -15), (5, 6))
            if p >= k
        ]
        result.append((b - a) * sum(terms) / T**k)
    return [float(r) for r in result]


def test_legs_are_the_exact_polynomials():
    points = PATH.points
    t0 = 0.0
    for leg in (*range(4), *range(4)):
        T = PATH.leg[leg]
        for t in t0 + T * np.array([0.001, 0.137, 0.5, 0.81, 0.999]):
            got = PATH.sample([t], 6)[:, 0]
            for axis in range(2):
                want = exact_leg(points[leg][axis], points[leg + 1][axis], t0, T, t, 6)
                np.testing.assert_allclose(got[:, axis], want, rtol=1e-10, atol=1e-10)
        t0 += T + PATH.dwell
    assert PATH.duration == pytest.approx(2 * (1.3 + 0.7 + 2.1 + 0.9) + 7 * 0.35, abs=1e-12)


def test_points_are_met_exactly_and_held():
    t = np.array([-2.0, 0.0, 1.3, 1.5, PATH.duration, PATH.duration + 9.0])
    r = PATH.sample(t, 4)
    assert r.shape == (5, 6, 2)
    np.testing.assert_array_equal(r[0], [PATH.points[i] for i in (0, 0, 1, 1, 4, 4)])
    assert not r[1:3].any() and not r[3:, [0, 2, 3, 4, 5]].any()


def test_legs_that_meet_without_a_pause():
    path = Waypoints("joint", ((0.2,), (1.7,), (0.9,)), (0.8, 1.9))
    times, jumps = path.jerk_jumps()
    np.testing.assert_allclose(times, [0, 0.8, 2.7], rtol=1e-15)
    first, second = 60 * 1.5 / 0.8**3, 60 * -0.8 / 1.9**3
    np.testing.assert_allclose(jumps[:, 0], [first, second - first, -second], rtol=1e-12)


def test_sine_is_the_product_rule():
    """r = c + A s(t/T) sin(ωt + φ): Leibniz in the ramp, the plain sine after it, the centre before."""
    ω, T = 2 * pi * 0.83, 1.7
    for t in (0.0, 0.31, 1.1, 1.69):
        s = exact_leg(0, 1, 0, T, t, 4)
        for i, (c, A, φ) in enumerate(zip(SINE.centre, SINE.amplitude, SINE.phase)):
            wave = [A * ω**k * np.sin(ω * t + φ + k * pi / 2) for k in range(5)]
            want = [
                sum(comb(k, j) * s[j] * wave[k - j] for j in range(k + 1)) + c * (k == 0)
                for k in range(5)
            ]
            np.testing.assert_allclose(SINE.sample([t], 4)[:, 0, i], want, rtol=1e-10, atol=1e-10)
    t = np.array([1.7, 2.2, 91.3])
    for k in range(5):
        want = (
            np.array(SINE.amplitude)
            * ω**k
            * np.sin(ω * t[:, None] + np.array(SINE.phase) + k * pi / 2)
        )
        want = want + np.array(SINE.centre) * (k == 0)
        np.testing.assert_allclose(SINE.sample(t, 4)[k], want, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(SINE.sample([-0.5], 2)[:, 0], [SINE.centre, (0, 0, 0), (0, 0, 0)])
    assert SINE.duration == inf


def test_a_sine_without_ramp_has_always_been_moving():
    """At t = 0 and before it is what it is one period later; no derivative jumps."""
    sine = replace(SINE, ramp=0.0)
    t = np.array([-0.4, 0.0, 0.3])
    later = t + 1 / SINE.frequency
    np.testing.assert_allclose(sine.sample(t, 3), sine.sample(later, 3), rtol=0, atol=1e-9)
    np.testing.assert_allclose(sine.sample(later + 3, 3), SINE.sample(later + 3, 3), rtol=1e-12)
    assert not sine.jerk_jumps()[0].size


def one_sided(reference, t, order):
    """Derivative of `order` just before and just after t, without using that order's continuity: by 40 ns."""
    h = 4e-8
    return reference.sample([t - h, t + h], order)[order]


@pytest.mark.parametrize("reference", ALL, ids=lambda r: type(r).__name__)
def test_c2_everywhere_and_jerk_jumps_exactly_where_promised(reference):
    times, jumps = reference.jerk_jumps()
    assert times.shape == jumps.shape[:1] and (np.diff(times) > 0).all()
    end = min(reference.duration, 6.0)
    knots = getattr(reference, "times", ())
    for t in np.unique([*times, *knots, *np.linspace(-0.5, end + 1, 83), 0.0, end]):
        for k in range(3):
            before, after = one_sided(reference, t, k)
            steepest = np.abs(
                reference.sample(np.linspace(t - 1e-6, t + 1e-6, 5), k + 1)[k + 1]
            ).max()
            np.testing.assert_allclose(after, before, atol=1e-7 * (steepest + 1))
        before, after = one_sided(reference, t, 3)
        promised = jumps[np.isclose(times, t, rtol=0, atol=1e-9)].sum(axis=0)
        steepest = np.abs(reference.sample(np.linspace(t - 1e-6, t + 1e-6, 5), 4)[4]).max()
        np.testing.assert_allclose(
            after - before, promised, atol=1e-7 * (steepest + np.abs(jumps).max(initial=1))
        )


@pytest.mark.parametrize("reference", ALL, ids=lambda r: type(r).__name__)
def test_each_derivative_integrates_to_the_one_below(reference):
    """Gauss quadrature of order k+1 between smooth points gives the change of order k."""
    nodes, weights = np.polynomial.legendre.leggauss(8)
    marks = np.unique(
        [*reference.jerk_jumps()[0], *getattr(reference, "times", ()), -0.3, 0.45, 2.05, 3.9]
    )
    for a, b in zip(marks[:-1], marks[1:]):
        pieces = np.linspace(a, b, 9)
        for lo, hi in zip(pieces[:-1], pieces[1:]):
            inner = reference.sample((lo + hi) / 2 + (hi - lo) / 2 * nodes, 4)
            nudge = 1e-12 * (1 + abs(hi))
            low, high = np.moveaxis(reference.sample([lo + nudge, hi - nudge], 4), 1, 0)
            for k in range(4):
                area = (hi - lo) / 2 * np.tensordot(weights, inner[k + 1], (0, 0))
                scale = np.abs(inner[k]).max() + np.abs(inner[k + 1]).max() + 1
                np.testing.assert_allclose(high[k] - low[k], area, atol=1e-9 * scale)


def test_spline_through_two_points_is_a_leg():
    points = ((0.2, 0.7), (0.9, -0.1))
    leg, spline = Waypoints("piston", points, 1.4), Spline("piston", (0.0, 1.4), points)
    t = np.linspace(-0.2, 1.8, 41)
    np.testing.assert_allclose(spline.sample(t, 4), leg.sample(t, 4), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(spline.jerk_jumps()[1], leg.jerk_jumps()[1], rtol=1e-9)


def test_spline_meets_its_samples_and_finds_the_curve_between_them():
    """From samples of a path that starts and ends at rest: order 6, so four times the samples give 4⁵ or better."""
    exact = Waypoints("joint", ((0.3, 1.0), (1.9, -0.7)), 3.0)
    sine = lambda t: np.sin(t) ** 4 * np.exp(-t / 3)  # noqa: E731  (at rest at 0 and π)
    errors = []
    for n in (16, 64):
        t = np.linspace(0, pi, n)
        fitted = Spline("joint", t, sine(t))
        np.testing.assert_allclose(fitted.sample(t, 0)[0, :, 0], sine(t), atol=1e-13)
        fine = np.linspace(0, pi, 1001)
        errors.append(np.abs(fitted.sample(fine, 0)[0, :, 0] - sine(fine)).max())
    assert errors[1] < errors[0] / 4**5
    t = np.array([0.0, 0.31, 0.7, 1.9, 2.4, 3.0])  # a quintic is its own quintic spline
    again = Spline("joint", t, exact.sample(t, 0)[0])
    fine = np.linspace(-1, 4, 101)
    np.testing.assert_allclose(again.sample(fine, 3), exact.sample(fine, 3), atol=1e-8)
    assert SPLINE.duration == SPLINE.times[-1] and not again.sample([-1.0, 5.0], 4)[1:].any()


def test_spline_from_the_csv_of_a_log(tmp_path):
    t = np.linspace(0, 2, 30)
    q = PATH.sample(t, 0)[0]
    Log(t, q, (Signal("q_1", "rad"), Signal("q_2", "rad")), {}, Status(True, "", 2.0)).to_csv(
        tmp_path / "q.csv"
    )
    assert Spline.from_csv(tmp_path / "q.csv", "joint") == Spline("joint", t, q)
    (tmp_path / "bare.csv").write_text("0, 1\n1, 2\n\n2, 5\n")
    assert Spline.from_csv(tmp_path / "bare.csv", "joint").values == ((1.0,), (2.0,), (5.0,))


@pytest.mark.parametrize(
    "text, words, line",
    [
        ("0,1\n1,x\n", "number was expected", 2),
        ("t,q\n0,1\n1\n", "1 columns", 3),
        ("t [s],q [bar]\n0,1\n1,2\n", "not in m or rad or 1", 1),
        ("t [mm],q [m]\n0,1\n1,2\n", "not in s, nor", 1),
        ("", "samples", None),
        ("t,q\n0,1\n", "samples", None),
        ("0\n1\n", "samples", None),
        ("0,1\n0,2\n", "rise", None),
        ("0,1\n1,nan\n", "finite", 2),
    ],
)
def test_csv_that_cannot_be_used(tmp_path, text, words, line):
    path = tmp_path / "q.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=words) as caught:
        Spline.from_csv(path, "joint")
    assert caught.value.file == str(path) and caught.value.line == line
    with pytest.raises(InputError, match="cannot be read"):
        Spline.from_csv(tmp_path, "joint")


def test_start_is_filled_in_and_asked_for():
    demo = Waypoints("cartesian", ("start", (2.5, 1.0), (3.0, 1.5), "start"), 5.0)
    for lacking in (demo, Hold("joint"), Sine("joint", "start", (0.1, 0.2), 0.5)):
        with pytest.raises(InputError, match="start"):
            lacking.sample([0.0], 1)
        if not isinstance(lacking, Sine):  # whose jumps do not depend on its centre
            with pytest.raises(InputError, match="start"):
                lacking.jerk_jumps()
        point = np.array([1.9, 0.35])
        known = lacking.resolve(point)
        np.testing.assert_array_equal(known.sample([-1.0], 0)[0, 0], point)
        assert known.resolve((7.0, 7.0)) == known and lacking != known
    assert demo.resolve((1.9, 0.35)).points == ((1.9, 0.35), (2.5, 1.0), (3.0, 1.5), (1.9, 0.35))
    with pytest.raises(InputError, match="unequal"):
        demo.resolve((1.0, 2.0, 3.0))


def test_names_follow_the_space():
    assert Hold("joint").names(2) == ("q_d1", "q_d2") and Hold("piston").names(1) == ("x_d1",)
    assert PATH.names(2) == ("x_d", "y_d") and Hold("output").names(2) == ("y_d1", "y_d2")
    with pytest.raises(InputError):
        PATH.names(4)


def test_references_are_frozen_equal_by_value_and_carry_units():
    again = Waypoints(PATH.space, PATH.points, np.array(PATH.leg), PATH.dwell, 2)
    assert again == PATH and hash(again) == hash(PATH) and repr(again) == repr(PATH)
    with pytest.raises(FrozenInstanceError):
        PATH.dwell = 1.0
    assert {leaf.path: leaf.info.unit for leaf in leaves(SINE)}["frequency"] == "Hz"
    assert {leaf.info.unit for leaf in leaves(PATH)} == {"s"}


TWO = ((0.0, 1.0), (2.0, 3.0))


@pytest.mark.parametrize(
    "build",
    [
        lambda: Waypoints("joint", TWO, 0.0),
        lambda: Waypoints("joint", TWO, -1.0),
        lambda: Waypoints("joint", TWO, float("nan")),
        lambda: Waypoints("joint", TWO, "fast"),
        lambda: Waypoints("joint", TWO, (1.0, 2.0)),
        lambda: Waypoints("joint", TWO, 1.0, dwell=-0.1),
        lambda: Waypoints("joint", TWO, 1.0, repeat=2),
        lambda: Waypoints("joint", TWO, 1.0, repeat=0),
        lambda: Waypoints("joint", TWO, 1.0, repeat=1.5),
        lambda: Waypoints("joint", TWO[:1], 1.0),
        lambda: Waypoints("joint", "start", 1.0),
        lambda: Waypoints("joint", ((0.0, 1.0), (2.0,)), 1.0),
        lambda: Waypoints("joint", ((0.0, 1.0), (2.0, inf)), 1.0),
        lambda: Waypoints("joint", ((0.0, 1.0), "end"), 1.0),
        lambda: Waypoints("tool", TWO, 1.0),
        lambda: Hold("joint", ()),
        lambda: Hold("joint", (float("nan"),)),
        lambda: Sine("joint", (0.0,), (1.0, 2.0), 1.0),
        lambda: Sine("joint", (0.0, 0.0), (1.0, 2.0), 1.0, (0.1,)),
        lambda: Sine("joint", (0.0,), "start", 1.0),
        lambda: Sine("joint", (0.0,), (1.0,), 0.0),
        lambda: Sine("joint", (0.0,), (1.0,), 1.0, ramp=-1.0),
        lambda: Spline("joint", (0.0, 0.0), ((1.0,), (2.0,))),
        lambda: Spline("joint", (0.0, 1.0), ((1.0,), (inf,))),
        lambda: Spline("joint", (0.0,), ((1.0,),)),
        lambda: PATH.sample([0.0], -1),
        lambda: PATH.sample([0.0], 1.5),
    ],
)
def test_what_makes_no_reference_is_refused(build):
    with pytest.raises(ValueError):
        build()


def test_samples_through_which_no_spline_goes_are_refused():
    """Two samples 1e-200 s apart: powers of their distance are no numbers."""
    path = Spline("joint", (0.0, 1e-200, 1.0), ((0.0,), (1.0,), (2.0,)))
    with pytest.raises(InputError, match="no spline goes through"):
        path.sample(np.linspace(0.0, 1.0, 5), 2)
    sound = Spline("joint", (0.0, 0.5, 1.0), ((0.0,), (1.0,), (2.0,)))
    assert np.isfinite(sound.sample(np.linspace(0.0, 1.0, 5), 2)).all()
