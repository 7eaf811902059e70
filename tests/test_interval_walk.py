"""The compiled walk over boxes: it contains every value, is as tight as the NumPy walk, and cannot lose its rounding unseen."""

from fractions import Fraction

import casadi as ca
import numpy as np
import pytest

from workbench.numerics.c_code import own_text
from workbench.numerics.compiler import library
from workbench.numerics.intervals import walk as interval_walk
from workbench.numerics.intervals.enclosure import box, enclose
from workbench.numerics.intervals.walk import Walk, walk

pytestmark = pytest.mark.skipif(interval_walk.compiled() is None, reason="needs a C compiler")

LIBRARY = "exp expm1 tanh arctan sinh arcsinh cosh sin cos tan arcsin arccos arctanh log log1p arccosh".split()
INSIDE = {"tan": 0.2, "arcsin": 0.3, "arccos": 0.3, "arctanh": 0.3}  # |x| below it, with the shift
SHIFT = {"log": 2.5, "log1p": 2.5, "arccosh": 4.0}

TEXTS = {
    "polynomial": lambda x, y: x**3 - 2.5 * x * y + y**2 / 7,
    "waves": lambda x, y: np.sin(3 * x) * np.cos(y) + np.tanh(5 * x) - np.arctan2(x, y + 3),
    "branches": lambda x, y: np.where(x > 0, np.sqrt(np.maximum(x, 0.0)), -y) + np.abs(x - y),
    "quotient": lambda x, y: -x / (2.2 + np.abs(y)) + np.exp(-y * y) / (-3.0 - x),
    "limits": lambda x, y: np.clip(3 * x, -1, 0.7) + np.sign(y) * np.hypot(x, y) + np.floor(x),
    "powers": lambda x, y: (x + 3) ** y + (y - 0.5) ** 4 - x**3 + (x + 2.5) ** -1.5,
}


def traced(text):
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    return ca.Function("g", [x, y], [text(x, y)])


def boxes(seed, n=500):
    """Middles and radii of boxes from points to halves."""
    rng = np.random.default_rng(seed)
    return rng.uniform(-2, 2, (2, n)), 10 ** rng.uniform(-12, -0.3, (2, n)), rng


@pytest.mark.parametrize("name", TEXTS)
def test_contains_values_and_is_no_wider_than_the_numpy_walk(name):
    f = traced(TEXTS[name])
    middle, radius, rng = boxes(4)
    low, high = middle - radius, middle + radius
    found = Walk(f).over(low, high)
    for _ in range(6):
        at = low + (high - low) * rng.uniform(0, 1, low.shape)
        value = np.array(f.map(at.shape[1])(*at)).ravel()
        # The point's own value is rounded to nearest: it may stand an error of its sums outside.
        slack = 1e-14 * (1 + np.abs(value))
        assert found.sure.all()
        assert (found.low[0] <= value + slack).all() and (value - slack <= found.high[0]).all()
    if name in ("waves", "powers"):  # arctan2 has no rule there
        return
    (other,) = enclose(f, [[box(a, b)] for a, b in zip(low, high)])
    width = 4e-16 * (1 + np.abs(value))  # where NumPy's exp or tanh is another than the C library's
    assert (other.low - width <= found.low[0]).all() and (found.high[0] <= other.high + width).all()


def test_points_against_exact_fractions():
    """A rational text at points: Horner's scheme, a quotient and a square in exact numbers lie strictly inside, close."""
    f = traced(lambda x, y: ((x * 0.1 - y) * x + 0.3) / (x * x + y * y) - (x - y) ** 2)
    (x, y), _, _ = boxes(7, 200)
    found = Walk(f).over([x, y], [x, y])
    for k in range(200):
        u, v = Fraction(x[k]), Fraction(y[k])
        exact = ((u * Fraction(0.1) - v) * u + Fraction(0.3)) / (u * u + v * v) - (u - v) ** 2
        assert Fraction(found.low[0, k]) < exact < Fraction(found.high[0, k])
        assert found.high[0, k] - found.low[0, k] < 3e-14 * (1 + abs(float(exact)))


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="needs numbers of 64 bits")
@pytest.mark.parametrize("name", LIBRARY)
def test_library_functions_err_by_less_than_half_of_what_is_allowed_for(name):
    """Against numbers with eleven bits more: two of the four units by which bounds are widened stay unused on either side."""
    rng = np.random.default_rng(5)
    x = rng.uniform(-1, 1, 20000) * INSIDE.get(name, 2.4) * 10 ** rng.uniform(-3, 0, 20000)
    x = x + SHIFT.get(name, 0.0)
    s = ca.SX.sym("s")
    found = Walk(ca.Function("g", [s], [getattr(np, name)(s)])).over([x], [x])
    value = getattr(np, name)(x.astype(np.longdouble))
    unit = np.spacing(np.abs(value).astype(float))
    free = (np.abs(value) < 1) | (name not in ("sin", "cos", "tanh"))  # not cut at ±1
    for room in (value - found.low[0], found.high[0] - value):
        assert (room > 0).all() and (room > 1.98 * unit)[free & (name != "cosh")].all()


def test_what_leaves_a_domain_is_not_sure():
    x = ca.SX.sym("x")
    texts = [ca.sqrt(x), 1 / x, ca.log(x), ca.asin(x), ca.tan(x), x**-1.5]
    f = ca.Function("g", [x], [ca.vertcat(*texts, np.where(x > 0, np.sqrt(x), 0.0))])
    found = Walk(f).over([np.array([-1.0, 0.5, -3.0])], [np.array([2.0, 0.9, -1.6])])
    assert not found.sure[:, 0].any()
    assert found.sure[:, 1].all()
    assert found.sure[:, 2].tolist() == [False, True, False, False, True, False, True]
    assert found.low[1, 0] == -np.inf and found.high[1, 0] == np.inf


def test_straddled_kinks_are_named():
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    f = ca.Function("g", [x, y], [ca.fabs(x) + ca.fmax(x, y) + np.where(y > 1, 2 * y, y + 1)])
    w = Walk(f)
    found = w.over([[-1.0, 1.0, 0.5], [2.0, 0.0, 0.0]], [[1.0, 2.0, 0.8], [3.0, 0.5, 2.0]], True)
    told = {kink.operation: found.straddled[k].tolist() for k, kink in enumerate(w.kinks)}
    assert told == {
        "fabs": [True, False, False],
        "fmax": [False, False, True],
        "select": [False, False, True],
    }
    operations = {k.operation: f.instruction_id(k.instruction) for k in w.kinks}
    assert (operations["fabs"], operations["fmax"]) == (ca.OP_FABS, ca.OP_FMAX)


def test_blocks_threads_and_single_numbers_change_nothing():
    f = traced(TEXTS["polynomial"])
    middle, radius, _ = boxes(9, 101)
    low, high = middle - radius, middle + radius
    low[1] = high[1] = 0.3
    w = Walk(f)
    alone = [w.over([low[0, k], 0.3], [high[0, k], 0.3]) for k in range(101)]
    for threads in (1, 3):
        found = w.over([low[0], 0.3], [high[0], 0.3], threads=threads)
        assert (found.low[0] == [a.low[0, 0] for a in alone]).all()
        assert (found.high == w.over(low, high).high).all()


def test_infinite_bounds_never_become_nan():
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    f = ca.Function(
        "g", [x, y], [ca.vertcat(x - y, x * y, x / y, ca.exp(x) * 0 - ca.exp(y), x * x)]
    )
    low = [np.array([-np.inf, 0.0, 700.0]), np.array([0.0, -np.inf, -3.0])]
    high = [np.array([np.inf, 0.0, 800.0]), np.array([np.inf, np.inf, 900.0])]
    found = Walk(f).over(low, high)
    assert not np.isnan(found.low).any() and not np.isnan(found.high).any()
    assert (found.low <= found.high).all() and found.low[1, 1] <= 0 <= found.high[1, 1]


def planted(file, old, new):
    """The walk compiled with one text replaced; no flags of its own are needed for these."""
    parts = {name: own_text(name) for name in interval_walk.FILES}
    assert old in parts[file]
    parts[file] = parts[file].replace(old, new)
    return library("\n".join(parts.values()), interval_walk.FLAGS)


LONG = pytest.mark.long


@pytest.mark.parametrize(
    "file, old, new",
    [
        ("intervals/walk.c", " || fesetround(FE_UPWARD)", ""),
        pytest.param("intervals/exact.h", "-low + low * 0x1p-53", "-low", marks=LONG),
        pytest.param(
            "intervals/exact.h",
            "most(an * -bn, -ah * bh)",
            "most(-(an * bn), -ah * bh)",
            marks=LONG,
        ),
        ("intervals/exact.h", "most(an * -bn, -ah * bh)", "most(an * -bn, -(ah * bh))"),
        pytest.param(
            "intervals/exact.h",
            "ah / (ah >= 0 ? low : high)",
            "ah / (ah >= 0 ? high : low)",
            marks=LONG,
        ),
    ],
    ids=["not upwards", "root's lower end", "sign drawn out", "other sign drawn out", "divisor"],
)
def test_wrong_rounding_is_seen(file, old, new):
    """Each fault is one that the trial before the first use must refuse; as it stands the text passes."""
    assert interval_walk.rounds_outwards(interval_walk.compiled())
    assert not interval_walk.rounds_outwards(planted(file, old, new))


def test_without_a_compiler_the_numpy_walk_answers(monkeypatch):
    monkeypatch.setattr(interval_walk, "compiled", lambda: None)
    f = traced(TEXTS["limits"])
    found = Walk(f).over([0.1, 0.2], [0.2, 0.3], kinks=True)
    (other,) = enclose(f, [[box(0.1, 0.2)], [box(0.2, 0.3)]])
    assert (found.low[0], found.high[0]) == (other.low, other.high) and found.straddled.all()


def test_an_operation_without_a_rule_is_named():
    x = ca.SX.sym("x")
    with pytest.raises(ValueError, match="g: OP_FMOD has no rule on boxes"):
        Walk(ca.Function("g", [x], [ca.fmod(x, 2.0)]))
    with pytest.raises(ValueError, match="expected bounds of 1 entries, got 2"):
        Walk(ca.Function("g", [x], [x])).over([0.0, 0.0], [1.0, 1.0])


def test_the_walk_of_boxes_is_that_of_the_numpy_text():
    f = traced(TEXTS["branches"])
    (b,) = walk(f, [[box([-1.0, 1.0], [1.0, 2.0])], [box(0.5, 0.6)]])
    (other,) = enclose(f, [[box([-1.0, 1.0], [1.0, 2.0])], [box(0.5, 0.6)]])
    assert (b.low >= other.low).all() and (b.high <= other.high).all() and b.sure.all()
