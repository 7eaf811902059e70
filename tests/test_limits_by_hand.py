"""Linear loops with limits, slopes of margins and ends of tubes: small matrices and arrays, every number by hand."""

from dataclasses import replace
from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest

from workbench.contract.errors import InputError
from workbench.verification.linear.limited import Limited, unlimited
from workbench.verification.linear.limited_loop import _affine, _law, _needed, _start
from workbench.verification.sensitivity.slopes import DIFFERENCES, MORRIS, Slope, slopes
from workbench.verification.tube import end
from workbench.verification.tube.end import closing, narrowed, pace, shown


def loop(T=0.1, **other):
    """x of the plant, then a and b of the law; one limit of ±2."""
    given = {
        "M": np.array([[0.5, 0.3, 0.0], [0.2, 0.4, 0.0], [0.0, 0.0, 0.7]]),
        "E": np.array([[-0.1], [0.0], [0.0]]),
        "K": np.array([[-3.0, 0.5, 0.0]]),
        "o": np.array([0.2, 0.1, 0.0]),
        "w": np.array([0.25]),
        "low": np.array([-2.0]),
        "high": np.array([2.5]),
        "enter": np.array([[1.0], [0.0], [0.0]]),
        "command": np.array([[4.0, 5.0, 0.0]]),
        "states": ("x", "a", "b"),
        "start": np.array([1.0, 2.0, 3.0]),
        "T": T,
        "constant": ("before",),
    }
    return Limited(**given | other)


# ---- memory that can be left out -------------------------------------------------------------------------------------------
def matrix(last, T=0.1, read=0.0, pushed=0.0):
    """b changes by `last` of itself and by `pushed` of x; x reads `read` of b."""
    M = loop().M.copy()
    M[2] = [pushed, 0.0, last]
    M[0, 2] = read
    return {"M": M, "T": T}


@pytest.mark.parametrize(
    "change, kept, constant",
    [
        (matrix(0.7), "xa", ()),
        (matrix(-0.7), "xa", ()),
        (matrix(1.2), "xab", ()),
        (matrix(0.7, read=0.1), "xab", ()),
        (matrix(-0.7, None), "xa", ()),
        (matrix(0.7, None), "xab", ()),
        (matrix(1.0), "xa", ("b",)),
        (matrix(0.0, None), "xa", ("b",)),
        (matrix(0.0), "xa", ()),
        (matrix(1.0, pushed=0.1), "xab", ()),
    ],
)
def test_memory_that_nothing_changes_and_memory_that_fades_unread(change, kept, constant):
    """A constant's part in x⁺ and v goes into o and w; what fades and is read nowhere does nothing."""
    found = _needed(loop(**change), 1)
    assert "".join(found.states) == kept and found.constant == ("before", *constant)
    assert len(found.M) == len(found.E) == len(found.start) == found.K.shape[1] == len(kept)
    assert found.command.shape == (1, len(kept)) and found.enter.shape == (len(kept), 1)


def test_what_a_constant_does_stays():
    given = matrix(1.0, read=0.1) | {"K": np.array([[-3.0, 0.5, 0.2]])}
    found = _needed(loop(**given), 1)
    assert found.o == pytest.approx([0.2 + 0.1 * 3.0, 0.1]) and found.w == pytest.approx(
        [0.25 + 0.2 * 3.0]
    )
    assert found.M.tolist() == [[0.5, 0.3], [0.2, 0.4]] and found.start.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    "change", [{"E": np.array([[-0.1], [0.0], [0.3]])}, {"o": np.array([0.2, 0.1, 0.4])}]
)
def test_what_limits_or_references_move_is_no_constant(change):
    assert _needed(loop(**matrix(1.0) | change), 1).states == ("x", "a", "b")


@pytest.mark.parametrize(
    "change", [{"K": np.array([[-3.0, 0.5, 0.1]])}, {"command": np.array([[4.0, 5.0, 0.1]])}]
)
def test_what_a_command_reads_is_needed(change):
    assert _needed(loop(**change), 1).states == ("x", "a", "b")


def test_states_of_the_plant_are_never_left_out():
    assert _needed(loop(**matrix(0.7)), 3).states == ("x", "a", "b")
    chain = loop()
    M = np.array([[0.5, 0.0, 0.0], [0.0, 0.4, 0.1], [0.0, 0.0, 0.7]])
    found = _needed(
        replace(chain, M=M, K=np.array([[1.0, 0, 0]]), command=np.array([[1.0, 0, 0]])), 1
    )
    assert found.states == ("x",), "b is read by a alone, and a by nobody"


# ---- where a limited loop rests ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("T", [0.1, None])
def test_where_a_loop_rests_and_what_room_is_left(T):
    own = loop(T)
    if T is None:
        own = replace(own, M=own.M - np.eye(3))
    x, room = own.rest()
    moved = own.M @ x + own.o
    assert moved == pytest.approx(x if T else np.zeros(3), abs=1e-12)
    v = own.K @ x + own.w
    assert room == pytest.approx([min(2.5 - v[0], v[0] + 2.0)])
    with pytest.raises(InputError, match="at its limit already"):
        replace(own, high=v).rest()
    with pytest.raises(InputError, match="at its limit already"):
        replace(own, low=v).rest()
    drifting = np.diag([1.0, 0.4, 0.7] if T else [0.0, -0.6, -0.3])
    with pytest.raises(InputError, match="does not come to rest"):
        replace(own, M=drifting).rest()


def test_assumptions_of_a_limited_loop():
    cut, before = loop(beyond=("u",)).assumptions()
    assert "of u the plant takes" in str(cut)
    assert cut.holds is None and before.holds is True and "before stays" in str(before)


@pytest.mark.parametrize("v, cut", [(2.4, 0.0), (3.5, 1.0), (-1.9, 0.0), (-5.0, -3.0)])
def test_a_step_with_its_limits(v, cut):
    """x⁺ = M x − E (v − clip v) + o, v = K x + w between −2 and 2.5."""
    own = loop()
    x = np.array([(0.25 - v) / 3.0, 0.0, 1.0])
    assert own.next(x) == pytest.approx(own.M @ x + own.o + np.array([0.1 * cut, 0.0, 0.0]))


# ---- limits in a law's text ----------------------------------------------------------------------------------------------------
a, b = ca.SX.sym("a"), ca.SX.sym("b")
LOW = lambda e, n: ca.fmax(e, n)
HIGH = lambda e, n: ca.fmin(e, n)


@pytest.mark.parametrize(
    "law, spans",
    [
        (HIGH(LOW(a - b, -2), 3), [(-2.0, 3.0)]),
        (LOW(HIGH(a - b, 3), -2), [(-2.0, 3.0)]),
        (HIGH(3, LOW(-2, a - b)), [(-2.0, 3.0)]),
        (LOW(HIGH(LOW(a - b, -2), 3), -5), [(-2.0, 3.0)]),
        (HIGH(HIGH(LOW(a - b, -2), 3), 3), [(-2.0, 3.0)]),
        (HIGH(LOW(a - b, -2), 3) + HIGH(LOW(b, -1), 1), [(-2.0, 3.0), (-1.0, 1.0)]),
        (HIGH(a - b, 3), []),
        (HIGH(HIGH(a - b, 3), 4), []),
        (HIGH(LOW(a - b, 3), 3), []),
        (HIGH(LOW(a - b, 3), -2), []),
        (HIGH(LOW(a, b), 3), []),
        (HIGH(LOW(a - b, -2), b), []),
        (2 * a - b + 1, []),
    ],
)
def test_pairs_of_bounds_are_limits(law, spans):
    """Inside of them the law is as it was without; another bound outside of one changes nothing, one inside does."""
    known = ca.vertcat(a, b)
    found, limits, which = unlimited(known, ca.vertcat(law, a))
    assert [(one.low, one.high) for one in limits] == spans
    assert which[1] is None and which[0] == (0 if len(spans) == 1 else None)
    f = ca.Function("f", [known, *(one.ψ for one in limits)], [found[0]])
    exact = ca.Function("g", [known], [law])
    for point in ((0.5, 0.25), (7.0, 1.0), (-6.0, 0.5), (3.5, 2.0)):
        ψ = []
        for one in limits:
            v = float(
                ca.Function("v", [known, *(o.ψ for o in limits)], [one.v])(
                    point, *[0.0] * len(limits)
                )
            )
            ψ.append(v - min(max(v, one.low), one.high))
        assert float(f(point, *ψ)) == pytest.approx(float(exact(point)))


def test_a_bound_inside_of_a_limit_is_no_limit():
    for law in (LOW(HIGH(LOW(a, -2), 3), -1), HIGH(LOW(HIGH(a, 3), -2), 2)):
        found, limits, which = unlimited(ca.vertcat(a), law)
        assert [(one.low, one.high) for one in limits] == [(-2.0, 3.0)] and which == [None]


def test_coefficients_of_an_affine_law():
    z, y = ca.SX.sym("z", 2), ca.SX.sym("y")
    e = ca.vertcat(2 * z[0] - 3 * y + 4, z[1] - z[0])
    by_z, by_y, at_0 = _affine(e, [z, y], "bent")
    assert (
        by_z.tolist() == [[2, 0], [-1, 1]]
        and by_y.tolist() == [[-3], [0]]
        and at_0.tolist() == [4, 0]
    )
    for bent in (z[0] * y, ca.fmax(z[0], 0), ca.sign(y)):
        with pytest.raises(InputError, match="bent"):
            _affine(bent, [z, y], "bent")


def test_a_limited_loop_begins_with_nothing_on_its_way():
    signals = lambda *names: [SimpleNamespace(name=n) for n in names]
    plant = SimpleNamespace(out=lambda t, x: [x[1], 10 * x[0]], outputs=signals("p", "q"))
    controller = SimpleNamespace(
        measured=signals("q", "p"),
        initial=lambda: [7.0],
        start=lambda t, z, y, r: [z[0], y[0] - y[1], r[0]],
    )
    found = _start(SimpleNamespace(plant=plant), controller, [1.0, 2.0], np.array([5.0]), 4)
    assert found.tolist() == [1.0, 2.0, 0.0, 0.0, 7.0, 8.0, 5.0]


# ---- slopes of margins -----------------------------------------------------------------------------------------------------------
def test_slopes_of_margins_that_are_known():
    """m = θ_a³ + ln θ_b and 5 θ_b: to ln θ 3, 1, 0 and 5; a tenth of that, and the error of the wide difference."""
    asked = []

    def margins(cases):
        asked.extend(cases)
        a, b = (np.array([case.get(n, 1.0) for case in cases]) for n in "ab")
        return np.column_stack([a**3 + np.log(b), 5 * b])

    first, second = slopes(margins, ["a", "b"])
    assert asked[:4] == [{"a": 0.99}, {"a": 0.995}, {"a": 1.005}, {"a": 1.01}] and len(asked) == 8
    assert [s.name for s in first] == ["a", "b"]
    assert [s.tenth for s in first] == pytest.approx([0.3, 0.1], rel=1e-7)
    assert [s.tenth for s in second] == pytest.approx([0.0, 0.5], abs=1e-12)
    # D(ε) = 3 + ε²: between ε = 0.01 and half of it 0.75e-4
    assert first[0].error == pytest.approx(0.1 * 0.75e-4, rel=1e-6) and first[0].by == DIFFERENCES


@pytest.mark.parametrize(
    "tenth, error, by, known, smooth",
    [
        (0.5, 0.149, DIFFERENCES, True, True),
        (-0.5, 0.149, DIFFERENCES, True, True),
        (0.5, 0.151, DIFFERENCES, True, False),
        (0.5, 0.0, MORRIS, True, False),
        (np.nan, 0.0, DIFFERENCES, False, False),
        (0.0, 0.0, DIFFERENCES, True, True),
    ],
)
def test_whether_one_slope_says_it_all(tenth, error, by, known, smooth):
    one = Slope("a", tenth, error, by)
    assert (one.known, one.smooth) == (known, smooth)


# ---- ends of tubes ---------------------------------------------------------------------------------------------------------------
def tube(first, σ=2.0):
    return SimpleNamespace(after=np.array([1, 2, 3, 4, first]), σ=σ, z=np.zeros((5, 1)), T=0.1)


def test_a_lap_brings_runs_closer():
    seen = SimpleNamespace(returns=0.5)
    assert (
        closing(tube(3), seen) == 0.25
        and closing(tube(0), seen) == 0.25
        and closing(tube(-1), seen) is None
    )
    assert pace(tube(3), 0.25) == pytest.approx(np.log(4) / 0.2)
    assert pace(tube(0), 0.25) == pytest.approx(np.log(4) / 0.5) and np.isfinite(pace(tube(0), 0.0))


def test_widths_of_states_that_start_nowhere_else_are_rounding():
    reach = np.array([[1.0, 0.99e-9], [0.5, 1.0], [1.1e-9, 0.25]])
    assert shown(reach).tolist() == [[1.0, 0.0], [0.5, 1.0], [1.1e-9, 0.25]]


@pytest.mark.parametrize(
    "last, wide",
    [
        ((0.9, 0.4), ""),
        ((1.0, 0.4), "x"),
        ((0.9, 0.5), "y"),
        ((0.9, 0.51), "y"),
        ((2.0, 0.6), "x, y"),
        ((np.nan, 0.1), "x"),
    ],
)
def test_a_tube_that_is_no_narrower_at_its_end(last, wide):
    """x from 1; y from nowhere else, and 1 at its widest, of which half is to be lost."""
    reach = np.array([[1.0, 1e-12], [2.0, 1.0], last])
    said = narrowed(("w", "x", "v", "y"), np.array([1, 3]), reach)
    assert bool(said) is bool(wide)
    if wide:
        assert f"than at the beginning in {wide}: make" in said[0]


# ---- a law taken apart -----------------------------------------------------------------------------------------------------------
def a_law(high=4.0, u=lambda z, y, r: [LOW(HIGH(z[0] + 2 * y[1], 3), -2), 5 * y[0] - z[1] + r[0]]):
    """Memory z_1⁺ = 0.5 z_1 + y_1, z_2⁺ = z_2 − 3 r; the first command is limited by itself, the second by the plant."""
    signals = lambda *names: [SimpleNamespace(name=n) for n in names]
    after = lambda t, z, y, r: [0.5 * z[0] + y[0], z[1] - 3 * r[0] + 0.25]
    controller = SimpleNamespace(
        states=signals("z_1", "z_2"), measured=signals("y_1", "y_2"), references=signals("r"), commands=signals("u", "v"),
        update=after, rhs=after, command=lambda t, z, y, r: u(z, y, r),
    )  # fmt: skip
    plant = SimpleNamespace(limits=lambda: {"u": (-high, high), "v": (-7.0, 8.0)})
    return SimpleNamespace(plant=plant), controller


@pytest.mark.parametrize("T", [0.1, None])
def test_memory_commands_and_limits_of_a_law(T):
    """A sampled law commands by the memory after the sample, a continuous one by that of the instant."""
    memory, commands, v, limits, beyond = _law(*a_law(), T)
    assert beyond == ["v"] and [(one.low, one.high) for one in limits] == [(-2, 3), (-7, 8)]
    by_z, by_y, by_r, by_ψ, at_0 = memory
    assert by_z.tolist() == [[0.5, 0], [0, 1]] and by_y.tolist() == [[1, 0], [0, 0]]
    assert by_r.tolist() == [[0], [-3]] and not by_ψ.any() and at_0.tolist() == [0, 0.25]
    by_z, by_y, by_r, by_ψ, at_0 = commands
    own = ([[0.5, 0], [0, -1]], [[1, 2], [5, 0]], [[0], [4]], [0, -0.25])
    flowing = ([[1, 0], [0, -1]], [[0, 2], [5, 0]], [[0], [1]], [0, 0])
    expected = flowing if T is None else own
    assert (by_z.tolist(), by_y.tolist(), by_r.tolist(), at_0.tolist()) == expected
    assert by_ψ.tolist() == [[-1, 0], [0, -1]]
    assert (v[0].tolist(), v[1].tolist(), v[2].tolist(), v[4].tolist()) == expected and not v[
        3
    ].any()


def test_laws_that_are_not_linear_but_for_their_limits():
    with pytest.raises(
        InputError, match="allows itself u from -2 to 3, the plant takes -2.5 to 2.5"
    ):
        _law(*a_law(high=2.5), 0.1)
    with pytest.raises(InputError, match="switches at its limits"):
        _law(*a_law(u=lambda z, y, r: [ca.sign(y[0]), y[1]]), 0.1)
    with pytest.raises(InputError, match="one limit behind another"):
        _law(
            *a_law(u=lambda z, y, r: [LOW(HIGH(2 * LOW(HIGH(y[0], 1), -1) + y[1], 3), -2), y[1]]),
            0.1,
        )
    with pytest.raises(InputError, match="no derivative at rest"):
        _law(*a_law(u=lambda z, y, r: [y[0] * np.inf, y[1]]), 0.1)


def test_widths_of_runs_that_have_the_same_constants(monkeypatch):
    """Beside the segment of the constant; no wider than what is reached, at first what starts are. Noise moves the third."""
    c = SimpleNamespace(
        section=np.array([0, 1, 2]),
        half=np.array([0.0, 0.3, 0.2]),
        fresh=np.array([0.0, 0.0, 0.1]),
        segments=np.array([[[9.0, 1.0, -2.0]] * 3] * 3),
        balls=np.array([np.diag([3.0, 4.0, 0.0])] * 3),
        reach=np.array(
            [
                [[50.0, 50.0, 50.0], [1.0, 1.0, 1.0]],
                [[4.0, 50.0, 50.0], [1.0, 1.0, 1.0]],
                [[50.0] * 3, [1.0] * 3],
            ]
        ),
    )
    monkeypatch.setattr(end, "constant", lambda c: np.array([False, True, False]))
    monkeypatch.setattr(end, "begun", lambda c: SimpleNamespace(G=np.array([[7.0, 0.25, 0.5]] * 3)))
    states, wide = end.alike(c)
    assert states.tolist() == [0] and wide.shape == (2, 1)
    assert wide.ravel() == pytest.approx([0.75, 4.0])
    c.fresh[2] = 0.0
    states, wide = end.alike(c)
    assert states.tolist() == [0, 2] and wide == pytest.approx(np.array([[0.75, 0.75], [4.0, 3.0]]))
