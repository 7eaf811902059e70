"""Taylor coefficients of boxes: those of the same text by symbolic differentiation lie inside, at a point and over a range."""

import math

import casadi as ca
import numpy as np
import pytest

from workbench.numerics.c_code import own_text
from workbench.numerics.compiler import library
from workbench.numerics.intervals import walk as interval_walk
from workbench.numerics.intervals.walk import Walk

pytestmark = pytest.mark.skipif(interval_walk.compiled() is None, reason="needs a C compiler")
K = 6
TEXTS = {
    "products": lambda x, y, c: (x * y - c * x) * (x * x - 3 * y) - 2 * x + y / 7,
    "quotients": lambda x, y, c: (x + 2 * y) / (2.2 + x * y) + c / (3 - y) - x / c,
    "roots": lambda x, y, c: np.sqrt(3 + x * y) - np.sqrt(c + x * x),
    "functions": lambda x, y, c: np.exp(-x * y) + np.tanh(2 * x - y) + np.arctan(c * x + y),
    "waves": lambda x, y, c: np.sin(2 * x) * np.cos(y * c) + np.tan(0.4 * x) + np.log(3 + y),
    "powers": lambda x, y, c: (x + 2) ** 1.5 + y**3 - x**4 + (c * y) ** 2,
    "decided": lambda x, y, c: np.maximum(x + 3, y) * np.abs(y - 5) + np.where(x > -9, x * y, 1.0),
}
X = np.array([0.3, -0.7, 0.11, 0.2, 0.05])
Y = np.array([-0.4, 0.5, -0.3, 0.07, 0.3])
C = 0.8


def curve(p, t):
    """Taylor coefficients of the polynomial p about t."""
    P = np.polynomial.Polynomial(p)
    return [P.deriv(k)(t) / math.factorial(k) if k else P(t) for k in range(K)]


def symbolic(name):
    """t → the K coefficients of the text along X(t), Y(t)."""
    t = ca.SX.sym("t")
    along = [sum(float(a) * t**k for k, a in enumerate(p)) for p in (X, Y)]
    terms = [TEXTS[name](*along, C)]
    for k in range(1, K):
        terms.append(ca.jacobian(terms[-1], t) / k)
    return ca.Function("terms", [t], [ca.vertcat(*terms)])


def walked(name):
    x, y, c = ca.SX.sym("x"), ca.SX.sym("y"), ca.SX.sym("c")
    return Walk(ca.Function("g", [x, y, c], [TEXTS[name](x, y, c)]))


@pytest.mark.parametrize("name", TEXTS)
def test_coefficients_at_a_point(name):
    exact, w = symbolic(name), walked(name)
    ts = np.linspace(-0.4, 0.5, 70)
    x, y = (np.array([curve(p, t) for t in ts]).T for p in (X, Y))
    found = w.series([list(x), list(y), C], [list(x), list(y), C], K)
    for k, t in enumerate(ts):
        value = np.array(exact(t)).ravel()
        slack = 1e-12 * (
            1 + np.abs(value)
        )  # of the symbolic derivatives and of the curves' own coefficients
        assert (found.low[:, k] - slack <= value).all() and (
            value <= found.high[:, k] + slack
        ).all()
        assert (found.high[:, k] - found.low[:, k] < 1e-11 * (1 + np.abs(value))).all()
    assert found.sure.all()


@pytest.mark.parametrize("name", TEXTS)
def test_coefficients_over_a_range(name):
    """Boxes of the curves' coefficients over |t| ≤ 0.1 give boxes that contain the coefficients at every such t."""
    exact, w = symbolic(name), walked(name)
    ts = np.linspace(-0.1, 0.1, 41)
    rows = [np.array([curve(p, t) for t in ts]) for p in (X, Y)]
    low, high = [list(r.min(axis=0)) for r in rows], [list(r.max(axis=0)) for r in rows]
    found = w.series([*low, C], [*high, C], K)
    assert found.sure.all()
    for t in ts:
        value = np.array(exact(t)).ravel()
        assert (found.low[:, 0] - 1e-12 <= value).all() and (
            value <= found.high[:, 0] + 1e-12
        ).all()


def test_a_kink_inside_is_not_sure():
    x = ca.SX.sym("x")
    f = ca.Function("g", [x], [ca.vertcat(ca.fabs(x), ca.fmin(x, 0.5), ca.sign(x))])
    found = Walk(f).series([[-0.1, 1.0]], [[0.1, 1.0]], 2)
    assert found.sure.reshape(3, 2).all(axis=1).tolist() == [False, True, False]


@pytest.mark.parametrize(
    "old, new",
    [
        (
            "series_less(&rest, b + i, r + k - i);\n    op_div(r + k, &rest, b);",
            "op_div(r + k, &rest, b);",
        ),
        pytest.param("op_neg(c + k, &minus);", "c[k] = minus;", marks=pytest.mark.long),
        pytest.param("if (k % 2 == 0)", "if (0)", marks=pytest.mark.long),
    ],
    ids=["quotient", "cosine", "square"],
)
def test_a_wrong_recurrence_is_seen(old, new, monkeypatch):
    """The comparison with symbolic derivatives fails for each planted fault."""
    parts = {name: own_text(name) for name in interval_walk.FILES}
    assert old in parts["intervals/series.h"]
    parts["intervals/series.h"] = parts["intervals/series.h"].replace(old, new)
    faulty = library("\n".join(parts.values()), interval_walk.FLAGS)
    monkeypatch.setattr(interval_walk, "compiled", lambda: faulty)
    failed = 0
    for name in ("quotients", "waves", "products"):
        try:
            test_coefficients_at_a_point(name)
        except AssertionError:
            failed += 1
    assert failed
