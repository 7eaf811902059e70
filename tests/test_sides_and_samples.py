"""Slopes from logs a little apart, both ends of samples, paths without fast motion, enclosures over a sample: closed forms."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.linalg import expm

from workbench.contract.errors import InputError
from workbench.verification import claims as C
from workbench.verification.ledger import ends
from workbench.verification.rigorous.motion_sample import Sample
from workbench.verification.sensitivity import derivatives
from workbench.verification.sensitivity.derivatives import BESIDE, NEAR, NEIGHBOUR
from workbench.verification.tube import blocks, paths
from workbench.verification.tube.checker.balls import Balls
from workbench.verification.tube.checker.frame import Frame
from workbench.verification.tube.checker.interval import Interval


# ---- slopes of margins -------------------------------------------------------------------------------------------------------
def sloped(margin):
    """The slope of a margin that is a function of the share by which a number is moved."""
    at = (-NEIGHBOUR, -NEAR, 0.0, NEAR, NEIGHBOUR)
    return derivatives._slope("mass", *(margin(ε) for ε in at))


def test_a_smooth_margin_has_its_slope_a_tenth_of_it_shown():
    """m = 3 + 5 ε + c ε³: 0.5 for a tenth, off by c NEIGHBOUR² of the wide one."""
    found = sloped(lambda ε: 3 + 5 * ε)
    assert found.name == "mass" and found.tenth == pytest.approx(0.5, rel=1e-8)
    assert found.error < 1e-9
    bent = sloped(lambda ε: 3 + 5 * ε + 4e4 * ε**3)
    assert bent.tenth == pytest.approx(0.5, rel=1e-6)
    assert bent.error == pytest.approx(0.1 * 4e4 * NEIGHBOUR**2, rel=1e-4)


def test_sides_that_do_not_agree_are_the_error():
    """m = 7 ε before and 2 ε after: slope 4.5, sides 5 apart."""
    found = sloped(lambda ε: 2 * ε if ε > 0 else 7 * ε)
    assert found.tenth == pytest.approx(0.45) and found.error == pytest.approx(0.5)


def test_rounding_of_a_large_margin_is_no_side():
    """Sides apart by nine and by eleven of what rounding leaves of the margin, over the distance."""
    here = 2.0**20
    for off, counted in ((9e-15, False), (11.5e-15, True)):
        at = [0.0, 0.0, here, off * here, 0.0]
        found = derivatives._slope("m", here, here, at[2], here + at[3], here)
        sides = abs((here + at[3]) - here) / NEAR
        assert (found.error >= 0.1 * sides) is counted


def test_margins_that_are_not_there():
    nan = float("nan")
    assert derivatives._slope("m", 1.0, nan, 1.0, 1.0, 1.0) is None
    found = derivatives._slope("m", nan, 1 - 3e-6, 1.0, 1 + 3e-6, 1.0)
    assert found.tenth == pytest.approx(0.3) and found.error == pytest.approx(0.3)


@pytest.mark.parametrize(
    "share, agreed", [(1.0, True), (1.018, True), (1.022, False), (0.978, False)]
)
def test_runs_with_every_number_moved_at_once_must_agree(share, agreed):
    """Both numbers the way their signs say: what they do together, off by a share of all slopes; a fiftieth is allowed."""
    slopes = {"mass": 3.0, "length": -0.5}
    asked = []

    def move(sides):
        asked.extend(sides)
        (less, more) = ([sum(slopes[n] * (side[n] - 1) for n in slopes)] for side in sides)
        off = (share - 1) * 3.5 * BESIDE
        return [np.array(less) - off, np.array(more) + off]

    one = SimpleNamespace(name="mass", tenth=0.3)
    two = SimpleNamespace(name="length", tenth=-0.05)
    row = SimpleNamespace(margin=1e-9, limit=None)
    assert derivatives._agreed([row], [[one, None, two]], move) == [agreed]
    assert [abs(side["mass"] - 1) for side in asked] == pytest.approx([BESIDE, BESIDE])
    assert asked[0]["mass"] - 1 == pytest.approx(-(asked[1]["mass"] - 1))


def test_where_nothing_has_a_slope_nothing_agrees():
    row = SimpleNamespace(margin=1.0, limit=5.0)
    assert derivatives._agreed([row, row], [[None], [None]], None) == [False, False]
    one = SimpleNamespace(name="m", tenth=0.0)
    still = lambda rest: lambda sides: [[-rest], [rest]]
    for limit, margin, size in ((5.0, 1.0, 5.0), (None, -2.0, 2.0), (0.0, 3.0, 3.0)):
        row = SimpleNamespace(margin=margin, limit=limit)
        edge = 1e-6 * size * BESIDE / 0.1
        assert derivatives._agreed([row], [[one]], still(0.99 * edge)) == [True]
        assert derivatives._agreed([row], [[one]], still(1.01 * edge)) == [False]


# ---- both ends of a sample ---------------------------------------------------------------------------------------------------
def log_of(times):
    return SimpleNamespace(time=np.array(times))


@pytest.mark.parametrize(
    "period, times, skips",
    [
        (None, (0.0, 5.0), False),
        (0.1, (0.0,), False),
        (0.1, (0.0, 0.1), False),
        (0.1, (0.0, 0.149), False),
        (0.1, (0.0, 0.151), True),
        (0.1, (3.0, 3.1), False),
    ],
)
def test_a_log_that_skips_samples(period, times, skips):
    assert bool(ends.coarse(SimpleNamespace(period=period), log_of(times))) is skips


def test_just_after_and_just_before_by_turns():
    after, before = np.array([[1, 2], [5, 6], [9, 10]]), np.array([[3, 4], [7, 8]])
    assert ends.alternating([after, before]).tolist() == [[1, 2], [3, 4], [5, 6], [7, 8], [9, 10]]
    assert ends.alternating([after]).tolist() == after.tolist()
    table = np.arange(12.0).reshape(3, 4)
    assert ends.chosen(table, [0, 1]).base is not None
    assert ends.chosen(table, [0, 1]).tolist() == table[:, :2].tolist()
    assert ends.chosen(table, [2, 0]).tolist() == table[:, [2, 0]].tolist()


@pytest.mark.parametrize("lag", [0.0, 0.03])
def test_both_ends_of_samples_of_a_law_with_memory(lag):
    """The plant moves on, memory stays (or was released on the way), inputs are those of the next sample but for noise."""
    signal = lambda name: SimpleNamespace(name=name)
    controller = SimpleNamespace(release=lambda t, z, y, r: [10 * z[0], z[1]])
    loop = SimpleNamespace(
        period=0.1,
        lag=lag,
        states=tuple(map(signal, ("x", "m", "n"))),
        plant=SimpleNamespace(states=("x",)),
        controller=controller,
    )
    values = np.array([[1.0, 2.0, 3.0, 99], [4.0, 5.0, 6.0, 99], [7.0, 8.0, 9.0, 99]])
    log = SimpleNamespace(time=np.array([0.0, 0.1, 0.2]), values=values, names=["x", "m", "n", "o"])
    w = np.array([[1.0, -1.0], [2.0, -2.0], [3.0, -3.0]])
    demand = SimpleNamespace(at=lambda t: w, live=["r", "noise"], kinds={"r": "", "noise": "noise"})
    t, x, u = ends.both_ends(loop, log, demand)
    assert t.tolist() == [0.0, 0.1, 0.1, 0.2, 0.2]
    factor = 10 if lag else 1
    assert x[1].tolist() == [4.0, 2.0 * factor, 3.0] and x[3].tolist() == [7.0, 5.0 * factor, 6.0]
    assert x[::2].tolist() == values[:, :3].tolist()
    assert (
        u[1].tolist() == [2.0, -1.0] and u[3].tolist() == [3.0, -2.0] and u[2].tolist() == [2, -2]
    )
    two = SimpleNamespace(time=log.time[:2], values=values[:2], names=log.names)
    demand.at = lambda t: w[: len(t)]
    assert ends.both_ends(loop, two, demand)[0].tolist() == [0.0, 0.1, 0.1]
    demand.at = lambda t: w
    loop.period = None
    assert ends.both_ends(loop, log, demand)[0].tolist() == [0.0, 0.1, 0.2]


# ---- paths without fast motion -----------------------------------------------------------------------------------------------
X = np.array([[1.0, 0.2, 0.3, 0.0], [0.1, 2.0, 0.0, 0.1], [0.2, 0.0, 0.5, 0.3], [0, 0.4, 0, 4.0]])
FAST = np.array([-900.0, -200.0, -200.0]), np.array([0.0, 700.0, -700.0])
LAMBDA = np.diag([-3.0, *FAST[0]])
LAMBDA[2, 3], LAMBDA[3, 2] = 700.0, -700.0
A = np.linalg.inv(X) @ LAMBDA @ X
FRAME = Frame(
    X[None],
    Balls.exact(np.linalg.inv(X)[None]),
    LAMBDA[None],
    1,
    FAST[0][None],
    FAST[1][None],
    np.array([[0, 2, 1]]),
)


def test_fast_coordinates_are_solved_for():
    v = np.array([[0.7, -2.0, 3.0]])
    assert paths.backwards(FRAME, v)[0] == pytest.approx(np.linalg.solve(LAMBDA[1:, 1:], v[0]))


def path_of(push, rise):
    """A path of ẋ = A x + push + rise s, whose derivatives are told in closed form."""
    found = object.__new__(paths.Path)
    found.c = SimpleNamespace(order=6, states=4)
    found.slope = lambda x: A[None]

    def coefficients(C):
        f = np.einsum("ik,rjk->rji", A, C)
        f[:, 0] += push
        f[:, 1] += rise
        return f

    found.coefficients = coefficients
    return found


def test_a_path_follows_the_slow_motion_and_the_state_goes_on_exactly(monkeypatch):
    """Fast coordinates go where the push takes them, a line; the slow one beside it by Λ_s^j/j!; e^{Ah} of all after h."""
    push, rise = np.array([0.3, -0.5, 20.0, 7.0]), np.array([30.0, -700.0, 900.0, 4e3])
    x, h = np.array([1.0, -0.2, 0.4, 0.3]), 2e-3
    monkeypatch.setattr(paths, "framed", lambda A, sizes, h: FRAME)
    C, end = path_of(push, rise).step(x[None], h)
    slope = -np.linalg.solve(A, rise)
    first = np.linalg.solve(A, slope - push)  # first + slope s is a solution
    assert end[0] == pytest.approx(first + slope * h + expm(A * h) @ (x - first), rel=1e-8)
    w = X @ C[0].T
    line = np.column_stack([X @ first, X @ slope, np.zeros((4, 5))])
    slow = (X @ x)[0] - line[0, 0]
    for j in range(7):
        own = slow * (-3.0) ** j / np.prod(np.arange(1.0, j + 1))
        assert w[0, j] == pytest.approx(own + line[0, j], rel=1e-9)
        assert w[1:, j] == pytest.approx(line[1:, j], rel=1e-7, abs=1e-7)


def test_the_longest_step_of_the_flow():
    c = lambda lag, *substeps: SimpleNamespace(lag=lag, T=1.0, substeps=np.array(substeps))
    assert paths.longest(c(0.3, 2, 5)) == pytest.approx(0.15)
    assert paths.longest(c(0.3, 3, 5)) == pytest.approx(0.14)
    assert paths.longest(c(0.0, 0, 5)) == pytest.approx(0.2)


def test_held_commands_that_may_change_their_sign_are_split_at_zero():
    low = np.array([[-1.0, -2.0, 1.0], [0.0, -1.0, -1.0], [-3.0, 0.5, 2.0]])
    high = np.array([[1.0, 2.0, 3.0], [2.0, 0.0, 4.0], [2.0, 3.0, 4.0]])
    held = np.array([True, True, False])
    found = blocks.crossed(SimpleNamespace(low=low, high=high), held, np.array([5, 6, 7]))
    assert found.tolist() == [[5, 0, 0], [5, 1, 0], [7, 0, 0]]
    none = blocks.crossed(SimpleNamespace(low=low, high=high), held & False, np.array([5, 6, 7]))
    assert none.shape == (0, 3)


# ---- a sample of a loop ------------------------------------------------------------------------------------------------------
T = 0.1


def test_the_remainder_over_a_sample():
    """T³/3! times the bounds of L_f³V with zero, where smooth; elsewhere T times those of L_f V."""
    first = np.array([-2.0, 3.0, -2.0]), np.array([5.0, 4.0, 5.0])
    last = np.array([-7.0, -7.0, 6.0]), np.array([9.0, 9.0, 8.0])
    smooth = np.array([False, False, True])
    low, high = Sample._remainder(SimpleNamespace(period=T), first, last, smooth)
    assert low == pytest.approx([-0.2, 0.3, 0.0], abs=1e-15)
    assert high == pytest.approx([0.5, 0.4, 8e-3 / 6])
    assert low[0] <= -2 * T and low[1] < 3 * T and high[0] >= 5 * T and high[2] > 8 * T**3 / 6
    _, all_smooth = Sample._remainder(SimpleNamespace(period=T), first, last, smooth | True)
    assert all_smooth == pytest.approx(np.array([9.0, 9.0, 8.0]) * T**3 / 6)
    down, _ = Sample._remainder(SimpleNamespace(period=T), first, last, smooth | True)
    assert down == pytest.approx([-7e-3 / 6, -7e-3 / 6, 0.0])


@pytest.mark.parametrize("a", [-2.0, 1.5])
def test_an_enclosure_of_all_paths_over_a_sample(a):
    """ẋ = a x on [1, 2] and [−3, −1]: paths lie in it, and it is the fixed point of start + [0, T] f(B) but for little."""
    start = np.array([[1.0], [-3.0]]), np.array([[2.0], [-1.0]])
    flow = lambda B: [(np.minimum(a * B[0], a * B[1])[:, 0], np.maximum(a * B[0], a * B[1])[:, 0])]
    low, high = Sample._picard(SimpleNamespace(period=T), start, flow)
    for at, (x, y) in enumerate(((1.0, 2.0), (-3.0, -1.0))):
        reached = [x, y, x * np.exp(a * T), y * np.exp(a * T)]
        assert low[at, 0] <= min(reached) and max(reached) <= high[at, 0]
        grown = max(abs(x), abs(y)) * (1 + abs(a) * T / (1 - abs(a) * T))
        assert max(abs(low[at, 0]), abs(high[at, 0])) <= grown * 1.01
        back = abs(a) * T * max(abs(x), abs(y)) * 1.18
        assert low[at, 0] >= x - back and high[at, 0] <= y + back
    wild = lambda B: [(-40 * np.abs(B[1])[:, 0] - 1, 40 * np.abs(B[1])[:, 0] + 1)]
    low, high = Sample._picard(SimpleNamespace(period=T), start, wild)
    assert (low == -np.inf).all() and (high == np.inf).all()

    def one_of_two(B):
        (down, above), (wide_down, wide_above) = flow(B)[0], wild(B)[0]
        tame = np.array([False, True])
        return [(np.where(tame, down, wide_down), np.where(tame, above, wide_above))]

    low, high = Sample._picard(SimpleNamespace(period=T), start, one_of_two)
    assert low[0, 0] == -np.inf and high[0, 0] == np.inf
    assert -3 - 3 * back <= low[1, 0] < -1 and -3 < high[1, 0] < 0


def test_a_start_that_depends_on_a_state_without_a_range_is_anywhere():
    bounds = SimpleNamespace(over=lambda low, high: (low[:, 0] - 1, high[:, 0] + 2, None))
    box = np.array([[3.0], [5.0]]), np.array([[4.0], [6.0]])
    low, high = Sample._start(SimpleNamespace(jump=[bounds, None]), *box)
    assert low.tolist() == [[2.0, -np.inf], [4.0, -np.inf]]
    assert high.tolist() == [[6.0, np.inf], [8.0, np.inf]]


# ---- numbers that claims refuse ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "made, refused",
    [
        (lambda: C.Sector(low=0.4, high=1.2), None),
        (lambda: C.Sector(low=1.2, high=1.2), "not above low"),
        (lambda: C.Sector(high=1.0, place="limit"), None),
        (lambda: C.Sector(high=0.99, place="limit"), "a limit passes small commands"),
        (lambda: C.Sector(high=1.2, slope=1.2), None),
        (lambda: C.Sector(high=1.2, slope=1.19), "at least as steep"),
        (lambda: C.IncrementalPassivity(samples=1), None),
        (lambda: C.IncrementalPassivity(samples=1_000_000), None),
        (lambda: C.IncrementalPassivity(samples=0), "0 pairs"),
        (lambda: C.IncrementalPassivity(samples=1_000_001), "1 to 1 000 000"),
        (lambda: C.UniqueVelocity(samples=1), None),
        (lambda: C.UniqueVelocity(samples=100_000), None),
        (lambda: C.UniqueVelocity(samples=0), "0 states"),
        (lambda: C.UniqueVelocity(samples=100_001), "1 to 100 000"),
        (lambda: C.RobustStability(box={}), "at least one parameter"),
        (lambda: C.RobustStability(box={"m": (1, 2)}, budget=10_000_000), None),
        (lambda: C.RobustStability(box={"m": (1, 2)}, budget=10_000_001), "budget"),
        (lambda: C.Solves(share=1.0), None),
        (lambda: C.Solves(share=1.001), "share"),
        (lambda: C.CostDecrease(floor=0.0), None),
        (lambda: C.CostDecrease(floor=-1e-9), "floor"),
    ],
)
def test_numbers_at_the_edge_of_what_a_claim_takes(made, refused):
    if refused is None:
        made()
        return
    with pytest.raises((InputError, ValueError), match=refused):
        made()


def test_bounds_of_a_change_are_rounded_outwards_and_kinks_leave_the_leap():
    """Order three where smooth, else V(J(x)) − V(x), each with its remainder; what is no number bounds nothing."""
    answers = {
        "fall": ([1.0, 5.0, np.nan], [2.0, 6.0, 3.0], "weights"),
        "leap": ([7.0, 0.25, 8.0], [9.0, 0.5, 9.0], "other"),
    }
    bound = lambda name: SimpleNamespace(over=lambda low, high: tuple(map(as_it_is, answers[name])))
    smooth = np.array([True, False, True])
    rest = np.array([-0.5, -0.125, 0.0]), np.array([0.5, 0.125, 0.0])
    own = SimpleNamespace(
        fall=bound("fall"), leap=bound("leap"), _path=lambda low, high: (*rest, "way", smooth)
    )
    a, b, weights, way = Sample.change(own, None, None)
    assert a == pytest.approx([0.5, 0.125, -np.inf]) and b == pytest.approx([2.5, 0.625, 3.0])
    assert (a < [0.5, 0.125, 0.0]).all() and (b > [2.5, 0.625, 3.0]).all()
    assert (weights, way) == ("weights", "way")


def as_it_is(found):
    """Arrays of lists; words stay."""
    return found if isinstance(found, str) else np.array(found)


def test_coefficients_along_a_path_are_those_of_the_flow():
    """One array a power of s, as many as the path has; what a rate has no coefficient of is zero."""
    path = object.__new__(paths.Path)
    path.time, path.fixed = Interval(np.array([0.5, 0.6])), [Interval(np.array([7.0, 8.0]))]
    seen = []

    def run(kind, given, made):
        seen.append([len(one.parts) for one in given])
        x, y = given[1:3]
        return [x * y, made(Interval(np.array([4.0, 5.0]))), x]

    path.c = SimpleNamespace(flow=SimpleNamespace(run=run))
    C = np.array([[[1.0, 2.0], [3.0, 5.0], [0.0, 0.0]], [[-1.0, 2.0], [0.5, 1.0], [0.25, 3.0]]])
    found = path.coefficients(C)
    assert seen == [[1, 3, 3, 1]] and found.shape == (2, 3, 2)
    for k in range(2):
        product = np.convolve(C[k, :, 0], C[k, :, 1])[:3]
        assert found[k, :, 0] == pytest.approx(product, abs=1e-12)
        assert found[k, :, 1].tolist() == [4.0 + k, 0.0, 0.0]
