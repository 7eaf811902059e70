"""Ways to make a tube say yes wrongly: arithmetic against exact numbers, logic of conditions, certificates of other things."""

from dataclasses import replace
from fractions import Fraction

import casadi as ca
import numpy as np
import pytest

from tests.test_tube import ASKED, asked, loop
from workbench.verification.tube.checker import file as files
from workbench.verification.tube.checker import interval as iv
from workbench.verification.tube.checker import series, slope, words
from workbench.verification.tube.checker.data import Tube
from workbench.verification.tube.checker.interval import Interval
from workbench.verification.tube.checker.judge import judge
from workbench.verification.tube.checker.program import CODE, Program
from workbench.verification.tube.checker.section import Refused
from workbench.verification.tube.checker.series import Series
from workbench.verification.tube.checker.slope import Slope
from workbench.verification.tube.programs import program

RNG = np.random.default_rng(7)


def point(v):
    return Interval(np.array([float(v)]))


# ---- arithmetic --------------------------------------------------------------------------------------------------------
SIZES = (0.0, 1.0, 3e-9, 7e-160, 1e-310, 2e155, 1e300)


def numbers(many):
    return RNG.choice(SIZES, many) * RNG.uniform(-1, 1, many)


@pytest.mark.parametrize("sign", "+-*/")
def test_sums_and_products_contain_the_exact_ones(sign):
    exact = {
        "+": lambda x, y: x + y,
        "-": lambda x, y: x - y,
        "*": lambda x, y: x * y,
        "/": lambda x, y: x / y,
    }[sign]
    with np.errstate(all="ignore"):
        for wide in (0.0, 1.0):
            a, b = numbers(400), numbers(400)
            A = Interval(a - wide * np.abs(a), a + wide * np.abs(a))
            B = Interval(b - wide * np.abs(b) / 3, b + wide * np.abs(b) / 2)
            found = exact(A, B)
            for k in range(400):
                for x in (A.lo[k], A.hi[k], a[k]):
                    for y in (B.lo[k], B.hi[k], b[k]):
                        if sign == "/" and y == 0:
                            assert found.lo[k] == -np.inf and found.hi[k] == np.inf
                            continue
                        true = exact(Fraction(x), Fraction(y))
                        assert np.isneginf(found.lo[k]) or Fraction(found.lo[k]) <= true
                        assert np.isposinf(found.hi[k]) or true <= Fraction(found.hi[k])


def test_nothing_that_is_not_a_number_bounds_anything():
    nan = Interval(np.array([np.nan]))
    big = Interval(np.array([1e308]), np.array([1.5e308]))
    with np.errstate(all="ignore"):
        for x in (
            nan + 1.0,
            big * big - big * big,
            nan * 0.0,
            iv.sqrt(point(-1.0)),
            iv.log(point(0)),
        ):
            assert x.lo[0] == -np.inf and x.hi[0] == np.inf
        whole = Interval(np.array([-1e308]), np.array([1.7e308]))
        assert whole.rad[0] == np.inf or whole.rad[0] >= 1.35e308
        assert Interval(np.array([-np.inf]), np.array([np.inf])).rad[0] == np.inf


FUNCTIONS = {
    "sin": np.sin, "cos": np.cos, "exp": np.exp, "tanh": np.tanh, "arctan": np.arctan,
    "sinh": np.sinh, "cosh": np.cosh, "absolute": np.abs, "square": np.square,
    **{f"power {e}": (lambda x, e=e: np.power(x, e)) for e in (0.0, 1.0, 2.0, 3.0, 5.0, -1.0, 0.5)},
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_contain_their_values_inside_an_interval(name):
    """Also through zero, over several periods, and far from zero; 80 bits stand in for exact values."""
    f = FUNCTIONS[name]
    with np.errstate(all="ignore"):
        for size in (1e-8, 1.0, 30.0, 600.0, 3e6, 1e15):
            mid = RNG.uniform(-size, size, 200)
            wide = RNG.choice([0.0, 1e-9, 0.3, 1.0], 200) * RNG.uniform(0, size, 200)
            a = Interval(mid - wide, mid + wide)
            made = name.split()
            found = iv.power(a, float(made[1])) if len(made) > 1 else getattr(iv, name)(a)
            for share in (0.0, 0.1, 0.5, 0.77, 1.0):
                x = np.clip(a.lo + share * (a.hi - a.lo), a.lo, a.hi).astype(np.longdouble)
                y = f(x)
                seen = np.isfinite(y)
                assert ((found.lo <= y) & (y <= found.hi) | ~seen).all()


# ---- conditions --------------------------------------------------------------------------------------------------------
def orifice(x, c):
    return x / np.sqrt(np.sqrt(x * x + c))


def test_a_regularised_root_contains_values_chords_and_coefficients():
    """On either side of zero, across it, and on it; no wider than the ends give where the derivative is far from its peak."""
    mid = RNG.uniform(-3, 3, 400) * RNG.choice([1.0, 1e-2, 1e3], 400)
    wide = RNG.choice([0.0, 1e-6, 0.3, 1.5], 400) * np.abs(mid)
    width = RNG.choice([1e-300, 1e-6, 0.04, 2.0], 400)
    box = Interval(mid - wide, mid + wide)
    c = Interval(width)
    y = slope.orifice(Slope(box, {0: Interval(1.0)}), Slope(c))
    start = RNG.uniform(box.lo, box.hi)
    steps = Series([Interval(start), Interval(np.full(400, 0.7)), Interval(np.full(400, -0.2))])
    parts = series.orifice(steps, Series([c])).parts
    plain = (steps / series.sqrt(series.sqrt(series.square(steps) + Series([c])))).parts
    for share in np.linspace(0, 1, 9):
        x = np.clip(box.lo + share * (box.hi - box.lo), box.lo, box.hi)
        v = orifice(x.astype(np.longdouble), width)
        assert ((y.value.lo <= v) & (v <= y.value.hi)).all()
        h = 1e-5 * (np.abs(x) + np.sqrt(width))
        rise = (orifice(x + h, width) - orifice(x - h, width)) / (2 * h)
        slack = 1e-6 * np.abs(rise)
        assert ((y.by[0].lo <= rise + slack) & (rise - slack <= y.by[0].hi)).all()
    tight = y.value.hi - y.value.lo
    ends = orifice(box.hi, width) - orifice(box.lo, width)
    assert (tight <= ends * (1 + 1e-9) + 1e-12 * y.value.size).all()
    for mine, other in zip(parts, plain):
        ok = np.isfinite(other.lo + other.hi)
        assert ok.any()
        assert ((mine.lo <= other.hi) & (other.lo <= mine.hi) | ~ok).all()


def test_a_regularised_root_of_less_than_nothing_bounds_nothing():
    below = Interval(np.array([-1e-9]))
    x = Interval(np.array([1.0]), np.array([2.0]))
    assert iv.orifice(x, below).lo == -np.inf and iv.orifice_slope(x, below).hi == np.inf


@pytest.mark.parametrize("sign", (1, -1))
def test_a_quotient_by_a_double_root_becomes_one_operation_only_where_it_is_a_regularised_root(
    sign,
):
    x, w = ca.SX.sym("x"), ca.SX.sym("w")
    p = 3 - sign * x
    texts = {
        True: p / ca.sqrt(ca.sqrt(p * p + w * w + 1e-300)),
        False: p / ca.sqrt(ca.sqrt(x * x + w * w)),
    }
    for own, text in texts.items():
        f = ca.Function("f", [x, w], [text])
        made = program(f)
        assert (CODE["orifice"] in made.codes) == own
        for a, b in RNG.uniform(-5, 5, (40, 2)):
            found = made.run(iv, [Interval(a), Interval(b)], lambda v: v)[0]
            assert found.lo <= float(f(a, b)) <= found.hi


def test_a_square_that_stands_twice_under_a_root_is_taken_out_once():
    x, w = ca.SX.sym("x"), ca.SX.sym("w")
    f = ca.Function("f", [x, w], [x / ca.sqrt(ca.sqrt((x * x + w) + x * x))])
    found = program(f).run(iv, [Interval(1.5), Interval(0.2)], lambda v: v)[0]
    assert found.lo <= float(f(1.5, 0.2)) <= found.hi


def test_any_number_but_zero_is_true():
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    e = ca.vertcat(ca.logic_not(x), ca.logic_and(x, y), ca.logic_or(x, y), ca.if_else(x, 3.0, 4.0))
    f = ca.Function("f", [x, y], [e])
    p = program(f)
    for a in (-1.0, 0.0, 0.5, 2.0, -0.0):
        for b in (-1.0, 0.0, 0.5, 2.0):
            true = np.array(f(a, b)).ravel()
            found = p.run(iv, [point(a), point(b)], lambda v: v)
            for t, bounds in zip(true, found):
                assert np.all(bounds.lo <= t) and np.all(t <= bounds.hi)
                assert np.all(np.asarray(bounds.hi) - bounds.lo < 1e-9)
    unknown = [Interval(np.array([-1.0]), np.array([1.0])), point(1.0)]
    for bounds in p.run(iv, unknown, lambda v: v)[:2]:
        assert bounds.lo[0] <= 0 and bounds.hi[0] >= 1


def test_a_constant_that_is_switched_has_no_rate_where_the_switch_is_not_decided():
    x = ca.SX.sym("x")
    p = program(ca.Function("f", [x], [ca.if_else(x > 0, 2.0, 0.0)]))
    across = Interval(np.array([-1.0, 1.0]), np.array([1.0, 2.0]))
    rate = p.run(series, [Series([across, point(1.0), point(0.0)])], lift)[0]
    assert len(rate.parts) >= 2 and rate.parts[1].lo[0] == -np.inf and rate.parts[1].hi[0] == np.inf
    assert rate.parts[1].lo[1] == 0 == rate.parts[1].hi[1]
    by = p.run(slope, [Slope(across, {0: Interval(1.0)})], Slope)[0].by
    assert by[0].lo[0] == -np.inf and by[0].lo[1] == 0


def lift(x):
    return Series([x])


def test_what_jumps_leaves_no_slope_where_its_size_is_the_number_zero_alone():
    """A dead band of width 0 is none; one whose width is only near 0, or 0 on a part of the box, is."""
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    p = program(ca.Function("f", [x, y], [x + y * ca.sign(x)]))
    across = Slope(Interval(np.array([-1.0]), np.array([1.0])), {0: Interval(1.0)})
    (none,) = p.run(slope, [across, Slope(Interval(0.0))], Slope)
    assert none.by[0].lo == 1 == none.by[0].hi
    for width in (Interval(0.0, 1e-300), Interval(1e-300), Interval(np.zeros(1), np.ones(1))):
        with np.errstate(all="ignore"):
            (some,) = p.run(slope, [across, Slope(width)], Slope)
        assert np.isneginf(some.by[0].lo).all() and np.isposinf(some.by[0].hi).all()


KINKS = {
    "nested": lambda x: ca.fmax(-0.2, ca.fmin(0.3, ca.fabs(x) - 0.1)),
    "both sides agree": lambda x: ca.fmax(x, x),
    "clipped": lambda x: ca.fmin(ca.fmax(x, -0.1), 0.1) * x,
    "root": lambda x: ca.fmax(x, 0) * ca.sqrt(1.5 - x) + ca.fmin(x, 0) * ca.sqrt(1.5 + x),
}


@pytest.mark.parametrize("kink", KINKS)
def test_slopes_across_kinks_contain_every_chord(kink):
    """Boxes that end on a kink, straddle it, or are centred on it."""
    x = ca.SX.sym("x")
    f = ca.Function("f", [x], [KINKS[kink](x)])
    p = program(f)
    for low, high in [
        (0, 0.5),
        (-0.5, 0),
        (-0.1, 0.1),
        (0.1, 0.4),
        (-1, 1),
        (0.3, 0.5),
        (-0.4, 0.4),
    ]:
        box = Interval(np.array([float(low)]), np.array([float(high)]))
        out = p.run(slope, [Slope(box, {0: Interval(1.0)})], Slope)[0]
        d = out.by.get(0, Interval(0.0))
        at = np.linspace(low, high, 21)
        y = np.array(f(at[None, :])).ravel()
        chords = np.diff(y) / np.diff(at)
        assert (np.asarray(d.lo) <= chords.min() + 1e-12).all()
        assert (np.asarray(d.hi) >= chords.max() - 1e-12).all()


def test_a_graph_with_structural_zeros_keeps_the_places_of_its_outputs():
    x = ca.SX.sym("x")
    e = ca.SX(3, 1)
    e[2] = x
    p = program(ca.Function("f", [x], [e]))
    assert [float(np.ravel(v.lo)[0]) for v in p.run(iv, [point(5.0)], lambda v: v)] == [0, 0, 5]


# ---- certificates ------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("tube") / "tube.npz")
    verdict = asked(loop(), replace(ASKED, certificate=path))
    assert verdict.holds
    return files.load(path), path, verdict


def reading(place, inputs):
    """A program that hands on one input."""
    one = np.array([CODE["input"]])
    return Program(one, np.array([place]), np.array([-1]), np.zeros(1), np.zeros(1, int), inputs)


def test_an_output_of_a_state_outside_the_section_or_of_the_time_is_refused(certificate):
    c = certificate[0]
    outside = int(np.setdiff1d(np.arange(c.states), c.section)[0])
    far = dict(told=np.array(["seen"]), least=np.array([-1e9]), most=np.array([1e9]))
    judge(replace(c, out=reading(1 + int(c.section[0]), c.out.inputs), **far))
    with pytest.raises(Refused, match="section"):
        judge(replace(c, out=reading(1 + outside, c.out.inputs), **far))
    with pytest.raises(Refused, match="time"):
        judge(replace(c, out=reading(0, c.out.inputs), **far))


def test_a_node_that_is_passed_over_is_refused(certificate):
    c = certificate[0]
    after = c.after.copy()
    after[0] = 0
    with pytest.raises(Refused, match="after"):
        judge(replace(c, after=after))


def test_numbers_of_less_than_64_bits_are_computed_with_64(certificate):
    """The bounds of rounding are those of 64 bits; numbers of a few bits would be rounded far more."""
    arrays = certificate[0].arrays()
    short = Tube.of({k: v.astype(np.float32) if v.dtype == float else v for k, v in arrays.items()})
    assert {short.z.dtype, short.R.dtype, short.parameters.dtype} == {np.dtype(float)}
    for name, wrong in (("z", arrays["z"] + 0j), ("after", arrays["after"] + 0.5)):
        with pytest.raises(ValueError, match=name):
            Tube.of({**arrays, name: wrong})


def test_what_is_printed_names_loop_and_run_and_never_more_than_is_proved(certificate):
    c, _, verdict = certificate
    said = words.proved(c)
    loop_of, run_of = words.digests(c)
    assert verdict.data["digests"] == {"loop": loop_of, "run": run_of}
    assert f"of the loop {loop_of}\non the run {run_of}" in said
    gain = replace(c, parameters=np.nextafter(c.parameters, 9e9))
    renamed = replace(c, names=c.names[::-1])
    code = replace(c.jump, number=c.jump.number + 1.0)
    for other in (gain, renamed, replace(c, jump=code), replace(c, lag=1e-3)):
        assert words.digests(other)[0] != loop_of
    for other in (replace(c, w=c.w + 1e-15), replace(c, x0=c.x0 + 1e-15)):
        assert words.digests(other)[0] == loop_of and words.digests(other)[1] != run_of
    less = replace(c, half=np.nextafter(c.half, 0.0))
    assert "± 0.00399999" in words.proved(less) and "± 0.004 " in said
    for v in (0.1, 1 / 3, -2 / 3, 1e-9 / 7, 12345678.9, -0.004):
        assert float(words.rounded(v, True)) >= v >= float(words.rounded(v, False))


def test_a_file_of_odd_arrays_ends_without_a_traceback(certificate, tmp_path, capsys):
    arrays = certificate[0].arrays()
    odd = {
        "splits": np.ones(3),
        "substeps": np.array([0.5, 1.5]),
        "z": np.array("text"),
        "order": np.zeros(3),
        "jump.codes": arrays["jump.codes"].astype(float),
        "reach": arrays["reach"][None],
    }
    for name, value in odd.items():
        path = tmp_path / "odd.npz"
        np.savez(path, **{**arrays, name: value})
        assert files.main(str(path)) in (1, 3)
    assert "proved" not in capsys.readouterr().out


def test_what_the_model_leaves_out_is_said(certificate):
    assert any("vacuum" in a.text for a in certificate[2].assumptions)
