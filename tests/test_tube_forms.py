"""Linear forms beside a run: every run of the set is within the remainder, and what cancels over the set is seen to."""

import casadi as ca
import numpy as np
import pytest

from workbench.verification.tube.checker.affine import linearised
from workbench.verification.tube.checker.interval import Interval
from workbench.verification.tube.checker.program import as_it_is
from workbench.verification.tube.checker.runs import Runs
from workbench.verification.tube.checker.series import Series
from workbench.verification.tube.checker.spread import Spread
from workbench.verification.tube.checker.steps import as_series, flowed
from workbench.verification.tube.programs import program

x, y, w = (ca.SX.sym(name) for name in "xyw")
RNG = np.random.default_rng(12)
MANY = 60

FUNCTIONS = {
    "a product": x * y,
    "a product with a number": w * (x - y) * 3,
    "a square": (x - y + w) ** 2,
    "a quotient": (x * y + 1) / (y + 3) - x,
    "an inverse": 1 / (2 + x * y),
    "a share of what is not moved": w / (2 + x),
    "a root": ca.sqrt(((x + y) - y) + 1.5) * w,
    "functions of one number": ca.exp(x) * ca.sin(y) + ca.tanh(x) * ca.cos(y) + ca.log(y + 3),
    "more of them": ca.sinh(x) - ca.cosh(y) + ca.atan(x * y),
    "powers": (x + 2) ** 1.5 + (y + 2) ** 3,
    "an orifice": x / ca.sqrt(ca.sqrt(x * x + 0.01)) * y,
    "edges": ca.fabs((x + y) - y) + ca.fmax(x, y * w) - ca.fmin(y, x),
    "an edge twice": ca.fmax(x - y, 0) / 2 + ca.fmin(x - y, 0) / 3 + ca.fabs(x - y) * w,
    "an edge turned round": ca.fmax(x, y) + ca.fmin(y, x) + ca.fmax(y, x) * w,
    "a choice that is decided": ca.if_else(x < 30, x * y, 0) + ca.if_else(w < 3, y, 0),
    "a jump times nothing": ca.sign(x) * 0 + y,
}


def sets(size: float, ball: bool) -> tuple:
    """(centre, Spread, points of e (many, rows, 2)) of segments that are narrow across, in a box that cuts some of them."""
    rows = MANY
    c = RNG.uniform(-0.9, 0.9, (rows, 2))
    angle = RNG.uniform(0, np.pi, rows)
    along = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    across = np.stack([-np.sin(angle), np.cos(angle)], axis=-1)
    Γ = size * np.stack([along, 0.02 * across], axis=-1)
    B = size * 0.01 * np.stack([along, across], axis=-1)[..., : 2 if ball else 0]
    more = size * RNG.uniform(0, 0.01, (rows, 2))
    whole = np.abs(Γ).sum(axis=2) + np.abs(B).sum(axis=2) + more
    box = whole * RNG.uniform(0.7, 1.1, (rows, 1))
    points = []
    for k in range(20):
        draw = RNG.choice if k % 2 else lambda ends, n: RNG.uniform(-1, 1, n)
        ζ, a = draw([-1.0, 1.0], (rows, 2)), draw([-1.0, 1.0], (rows, 2))
        e = np.einsum("rij,rj->ri", Γ, ζ) + a * more
        if ball:
            e += np.einsum("rij,rj->ri", B, ζ) / np.sqrt(2)
        points.append(e * np.minimum(1, (box / np.abs(e)).min(axis=1))[:, None])
    return c, Spread(box, [(Γ, B)], more), points


def asked(f, c, spread, off=0.0):
    """(A, rest, value) of a function beside runs that are known to `off`."""
    given = [Interval(c[:, i] - off, c[:, i] + off) for i in range(2)]
    box = [Interval(g.lo - spread.box[:, i], g.hi + spread.box[:, i]) for i, g in enumerate(given)]
    p = program(ca.Function("F", [x, y, w], [f]))
    A, rest, (value,) = linearised(p, [*given, Interval(0.4, 0.41)], 0, box, spread)
    return A[:, 0], rest[:, 0], value


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("size", (1e-7, 1e-2, 0.4))
@pytest.mark.parametrize("off", (0.0, 0.01))
def test_every_run_of_the_set_is_within_the_remainder(name, size, off):
    F = ca.Function("F", [x, y, w], [FUNCTIONS[name]]).map(MANY)
    c, spread, points = sets(size, ball=size > 1e-3)
    A, rest, value = asked(FUNCTIONS[name], c, spread, off)
    assert np.isfinite(rest).all()
    for w_ in (0.4, 0.41):
        third = np.full((1, MANY), w_)
        for e in points:
            run = c + off * RNG.choice([-1.0, 0.0, 1.0], c.shape)
            f = np.array(F((run + e).T[:1], (run + e).T[1:], third)).ravel()
            moved = f - np.array(F(run.T[:1], run.T[1:], third)).ravel()
            assert (np.abs(moved - (A * e).sum(axis=1)) <= rest + 1e-13).all()
            assert (value.lo - 1e-13 <= f).all() and (f <= value.hi + 1e-13).all()


@pytest.mark.parametrize("name", ("a product", "a quotient", "functions of one number", "powers"))
def test_the_remainder_grows_with_the_square_of_the_width(name):
    c = RNG.uniform(-0.9, 0.9, (MANY, 2))
    wide, narrow = (Spread(np.full((MANY, 2), size), []) for size in (1e-2, 1e-3))
    many = [asked(FUNCTIONS[name], c, s)[1] for s in (wide, narrow)]
    assert (many[1] < 0.02 * many[0]).all() and many[0].max() < 20 * 1e-4


def test_what_cancels_over_the_set_does_so_in_the_remainder():
    """d = x − y is a hundredth of x and y over segments along x = y: so is what d² and a kink of d leave, of a box they do not."""
    c = np.zeros((1, 2))
    Γ = np.array([[[1.0, 0.005], [1.0, -0.005]]])
    box = np.abs(Γ).sum(axis=2)
    none = np.zeros((1, 2, 0)), np.zeros((1, 2))
    for f, most in (((x - y) ** 2, 1.01e-4), (ca.fmax(x - y, 0), 0.00501)):
        rest = asked(f, c, Spread(box, [(Γ, none[0])], none[1]))[1]
        assert rest[0] < most and asked(f, c, Spread(box, []))[1][0] > 100 * rest[0]


def test_the_sides_of_a_kink_share_what_they_leave_open():
    """max(d, 0) + min(d, 0) = d and |d| + 2 min(d, 0) = d exactly; with shares a/2 and a/3 of either, a sixth is open, not 5/6."""
    c = np.zeros((3, 2))
    spread = Spread(np.full((3, 2), 0.5), [])
    d = x - y
    for f in (ca.fmax(d, 0) + ca.fmin(d, 0), ca.fabs(d) + 2 * ca.fmin(0, d)):
        A, rest, _ = asked(f, c, spread)
        assert A == pytest.approx(np.tile([1.0, -1.0], (3, 1))) and (rest < 1e-12).all()
    _, rest, _ = asked(ca.fmax(d, 0) / 2 + ca.fmin(d, 0) / 3, c, spread)
    assert rest == pytest.approx(0.5 / 6)
    A, rest, _ = asked(
        ca.fmax(d, 0) ** 2, c, spread
    )  # 0 at the run, 1 where d is: what is open bends on, too
    assert (rest + A @ [0.5, -0.5] >= 1).all() and (rest < 1.001).all()


def test_a_kink_that_the_run_is_away_from_opens_less():
    """From c = 3 the chord of max(x, 0) to −1 has the slope 3/4: half of what is left of 1 stays open, times 4."""
    for centre, slope in ((3.0, (1 + 3 / 4) / 2), (-3.0, (1 - 3 / 4) / 2), (5.0, 1.0), (-5.0, 0.0)):
        A, rest, _ = asked(
            ca.fmax(x, 0), np.array([[centre, 0.0]]), Spread(np.array([[4.0, 0]]), [])
        )
        assert A[0, 0] == pytest.approx(slope)
        assert rest[0] == pytest.approx(0.5 if abs(centre) < 4 else 0.0, abs=1e-11)


def test_a_jump_that_is_not_decided_proves_nothing():
    c, box = np.array([[0.1, 1.0], [0.6, 1.0]]), np.full((2, 2), 0.2)
    for f in (ca.sign(x) * y, ca.if_else(x < 0, x, y), ca.sqrt(x - 0.1), 1 / (x - 0.2)):
        rest = asked(f, c, Spread(box, []))[1]
        assert rest[0] == np.inf and rest[1] < 3


def test_the_narrowest_of_box_segments_and_ball_bounds_a_row():
    """By hand: |e| ≤ 2 and 1 in the box; or within segments of 3 and 0.1, a ball of 0.4, and 0.05 more, at two ends."""
    Γ, B = np.array([[[3.0, 0.0], [0.0, 0.1]]]), 0.4 * np.eye(2)[None]
    more = np.full((1, 2), 0.05)
    spread = Spread(np.array([[2.0, 1.0]]), [(Γ, B), (0.5 * Γ, 2 * B)], more)
    a = np.array([[0.0, 1.0]])
    line = np.einsum("ri,rij->rj", a, spread.lines)
    assert spread.along(line) == pytest.approx(0.9)  # 0.05 + 0.8 + 0.05 at the second end
    line = np.einsum("ri,rij->rj", a[:, ::-1], spread.lines)
    assert spread.along(line) == pytest.approx(2.0)
    assert spread.over(np.eye(2)[None]) == pytest.approx(
        np.array([[2.0, 0.55]])
    )  # before the stage


# ---- steps of a flow from a set that is narrow across --------------------------------------------------------------------
def swing(x1, x2):
    """A pendulum with a rubber stop and friction that grows with the square: a kink, and terms that bend."""
    return [x2, -40 * ca.sin(x1) - 30 * ca.fmax(x1, 0.1) - 0.8 * x2 * ca.fabs(x2)]


def runs_beside(c: np.ndarray, points: list, h: float, steps: int, many: int = 16) -> tuple:
    """(centres, deviations) after every step, by a classical Runge–Kutta method with many small steps."""
    s = ca.SX.sym("s", 2)
    f = ca.Function("f", [s], [ca.vertcat(*swing(s[0], s[1]))])
    z, d = s, h / many
    k1 = f(z)
    k2 = f(z + d / 2 * k1)
    k3 = f(z + d / 2 * k2)
    one = ca.Function("one", [s], [z + d / 6 * (k1 + 2 * k2 + 2 * k3 + f(z + d * k3))])
    every = np.concatenate([c, *(c + e for e in points)]).T
    step = one.fold(many).map(every.shape[1])
    found = []
    for _ in range(steps):
        every = np.array(step(every))
        found.append(every.T.reshape(-1, *c.shape))
    return [x[0] for x in found], [x[1:] - x[0] for x in found]


@pytest.mark.parametrize("size", (1e-4, 3e-2))
def test_steps_hold_every_run_of_a_thin_set(size):
    """Step after step: inside the box over the step, within what is added of the matrix times where they began."""
    h, steps = 4e-3, 4
    _, spread, points = sets(size, ball=True)
    c = np.stack([RNG.uniform(0.05, 0.15, MANY), RNG.uniform(-1.5, 1.5, MANY)], axis=-1)
    (Γ, B) = (spread.lines[:, :, part] for part in spread.places[0])
    reaches = np.repeat(spread.box[:, None], steps + 1, axis=1)
    free = np.full((MANY, 2), np.inf)
    centres, away = runs_beside(c, points, h, steps)
    for s in range(steps):
        reaches[:, s + 1] = 1.05 * np.maximum(np.abs(away[s]).max(axis=0), 0.02 * size)
    runs = Runs([Interval(c[:, i]) for i in range(2)], reaches, (-free, free), Γ, B, spread.more)
    s = ca.SX.sym("s", 2)
    flow = program(ca.Function("f", [ca.SX.sym("t"), s], [ca.vertcat(*swing(s[0], s[1]))]))
    before = np.array(points)

    def given(x: list) -> list:
        return [(as_series if isinstance(x[0], Series) else as_it_is)(Interval(0.0)), *x]

    for k in range(steps):
        flowed(flow, runs, given, h, 4)
        Φ, added = runs.maps[-1], runs.errors[-1]
        off = np.abs(away[k] - np.einsum("rij,mrj->mri", Φ, before))
        assert np.isfinite(added).all() and (off <= added + 1e-10 * size).all()
        for i, centre in enumerate(runs.centre):
            assert (np.abs(centres[k][:, i] - centre.mid) <= centre.rad + 1e-9).all()
        assert (runs.low <= centres[k] + away[k]).all() and (
            centres[k] + away[k] <= runs.high
        ).all()
        before = away[k]
