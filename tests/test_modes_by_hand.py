"""Modes whose numbers are known: rates, periods and times of each, which of them decides, and what steady flow leaves a chamber."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from workbench.contract.declared import Notched
from workbench.verification.cause.filling import unfilled
from workbench.verification.linear.frozen_time import ON_THE_WAY, SPEED, TracedPoints
from workbench.verification.linear.modes import Mode, Modes, Place, _parted, modes_of
from workbench.verification.linear.modes_of_run import seen_again
from workbench.verification.linear.stability import spectral
from workbench.verification.observed.pump import fills, steady


def mode(s, bound=1e-3, aside=False, where="at rest"):
    return Mode(complex(s), bound, ("x", "v"), where, 0.0, aside)


@pytest.mark.parametrize(
    "s, grows, decays, τ, period, settles",
    [
        (-0.5, False, True, 2.0, math.inf, 10.0),
        (0.25, True, False, 4.0, math.inf, 20.0),
        (-0.5 + 10j, False, True, 2.0, 0.2 * math.pi, 10.0),
        (-10 - 20j, False, True, 0.1, 0.1 * math.pi, 0.3 * math.pi),
        (-2 + 2j, False, True, 0.5, math.inf, 2.5),
        (-1e-3, False, False, math.inf, math.inf, math.inf),
        (1e-3, False, False, math.inf, math.inf, math.inf),
    ],
)
def test_numbers_of_a_mode(s, grows, decays, τ, period, settles):
    """Five time constants or three periods; neutral within its bound."""
    one = mode(s)
    assert (one.grows, one.decays) == (grows, decays)
    assert (one.time_constant, one.period, one.settles) == pytest.approx((τ, period, settles))


def test_modes_in_words():
    assert mode(-0.5).words == "decays by e in 2 s (x, v)"
    assert mode(0.25 + 10j).words == "grows by e in 4 s, swinging with a period of 0.628 s (x, v)"
    assert mode(1e-4).words == "neutral (x, v)"


def place(*modes, rests=True):
    return Place(0.0, "p", rests, tuple(modes))


def test_which_mode_decides():
    """Growing ones the fastest first, one a place; else the slowest that decays, at rest where the run rests."""
    slow, slower, aside = mode(-0.5), mode(-0.25), mode(-0.01, aside=True)
    fast, faster = mode(0.5, where="start"), mode(2.0, where="way")
    found = Modes((place(fast, mode(0.3), slow), place(slower, aside), place(faster, rests=False)))
    assert found.unstable == (faster, fast) and found.slowest is slower
    assert found.words == f"way: a mode {faster.words}"
    calm = Modes((place(slow, mode(1e-4), aside), place(slower, rests=False)))
    assert calm.unstable == () and calm.slowest is slow
    assert calm.words == f"slowest mode {slow.words}"
    moving = Modes((place(slow, rests=False), place(slower, rests=False)))
    assert moving.slowest is slower
    none = Modes((place(aside),), ("no derivative", "timed"))
    assert none.slowest is None and none.words == "no derivative; timed"
    assert Modes(()).words == "no mode decays and none grows"
    assert place(slow).fastest is None


def test_the_slowest_mode_of_a_run_that_never_rests():
    """Of the slowest mode of every look the fastest, and none where a look has none or the run rests."""
    slow, slower, fast = mode(-1e-4), mode(-1e-5), mode(-0.5)
    way = place(fast, slow, mode(-1e-6, aside=True), rests=False)
    found = Modes((way, place(fast, slower, rests=False))).slowest_on_the_way
    assert found.s == slow.s and found.decays and found.settles == pytest.approx(5e4)
    assert Modes((way, place(mode(0.5), rests=False))).slowest_on_the_way is None
    assert Modes((way, place(slower))).slowest_on_the_way is None
    assert Modes(()).slowest_on_the_way is None
    neutral = replace(slow, s=-1e-10, rounding=1e-9)
    assert Modes((way, place(neutral, rests=False))).slowest_on_the_way is None


def test_modes_that_are_the_same_at_three_looks_count_as_at_rest():
    """A mode that grows by e in 100 s, in a run of 10 s; at two looks it may be gone a moment later."""
    slow = replace(mode(0.01, bound=0.1), rounding=1e-9)
    other = place(replace(slow, s=0.02), rests=False)
    own = place(slow, rests=False)
    nearly = place(replace(slow, s=0.010001), rests=False)
    for places, again in (((own, own, nearly), True), ((own, own, other), False)):
        found = seen_again(list(places), 10.0)
        assert [p.again for p in found] == [again] * 2 + [again and places[2] is nearly]
        assert len(Modes(tuple(found)).unstable) == (3 if again else 0)
    resting = [own, own, nearly, place(mode(-1.0))]
    assert seen_again(resting, 10.0) == resting


def test_modes_of_a_matrix():
    """A swinging pair counts once; what lies in a common mode of pressures, or in friction's memory, is aside."""
    ω, d = 3.0, 0.4
    M = np.zeros((4, 4))
    M[:2, :2] = [[-d, ω], [-ω, -d]]
    M[2, 2], M[3, 3] = -7.0, 0.5
    named = (M, None, ["a", "b", "z_1", "p"], 10.0, "there", 2.5)
    found = modes_of(*named, rubs={"z_1"})
    assert [m.s for m in found] == pytest.approx([0.5, -d + 1j * ω, -7.0], rel=1e-9)
    assert [m.states for m in found] == [("p",), ("a", "b"), ("z_1",)]
    assert [m.aside for m in found] == [False, False, True]
    assert all(m.bound == pytest.approx(1e-5) and (m.where, m.t) == ("there", 2.5) for m in found)
    assert not any(m.aside for m in modes_of(*named)), "a name alone is no friction"
    moving = modes_of(M, None, ["a", "b", "c", "p"], 10.0, rests=False)
    assert [m.bound for m in moving] == pytest.approx([0.1] * 3)
    commons = np.array([[0.0, 0.0, 0.0, 1.0]])
    assert [m.aside for m in modes_of(M, None, list("abcp"), 10.0, commons=commons)] == [
        True,
        False,
        False,
    ]


def orthogonal(first):
    """A matrix of unit columns, each square to the others, the first of them given by the squares of its numbers."""
    v = np.sqrt(np.array(first))
    away = v - np.eye(len(v))[0]
    return np.eye(len(v)) - 2 * np.outer(away, away) / (away @ away)


@pytest.mark.parametrize(
    "squares, told",
    [((0.6, 0.2, 0.2), "ab"), ((0.9, 0.1, 0.0), "a"), ((0.4, 0.24, 0.36), "ac")],
)
def test_the_two_states_that_take_part_most_are_told(squares, told):
    V = orthogonal(squares)
    found = modes_of(V @ np.diag([-1.0, -20.0, -300.0]) @ V.T, None, list("abc"), 10.0)
    assert found[0].states == tuple(told) and (found[0].where, found[0].t) == ("", 0.0)


@pytest.mark.parametrize("square, aside", [(0.92, True), (0.88, False)])
def test_a_mode_is_aside_with_nine_tenths_of_it_in_common_modes(square, aside):
    """Of the first mode `square` lies in the first state; two commons, of which the other has nothing of it."""
    V = orthogonal((square, 1 - square, 0.0))
    M = V @ np.diag([-1.0, -20.0, -300.0]) @ V.T
    commons = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    assert modes_of(M, None, list("abc"), 10.0, commons=commons)[0].aside is aside


def test_a_mode_is_not_aside_where_nobody_says_so():
    one = Mode(-1.0 + 0j, 1e-3, (), "", 0.0)
    assert one.decays and not one.aside and one.rounding == 0.0


def test_what_rounding_leaves_of_a_sampled_mode():
    """dz of z moves ln z/T by dz/(z T)."""
    T, M = 0.02, np.array([[0.5, 0.3], [0.0, 0.01]])
    z = spectral(M, T)
    expected = {v: b / v / T for v, b in zip(z.eigenvalues.real, z.bounds)}
    found = {math.exp(m.s.real * T): m.rounding for m in modes_of(M, T, list("ab"), 10.0)}
    for v, rounding in expected.items():
        (own,) = (r for w, r in found.items() if w == pytest.approx(v))
        assert own == pytest.approx(rounding)


def test_modes_that_rounding_may_have_parted_are_held_together():
    """1.0004 and 0.9996 by a thousand times the smaller of 1e-6 and 1e-5; 1.0006 and 0.9994 are two."""
    rounding = np.array([1e-6, 1e-5, 1e-6, 2e-6, 1e-6])
    near = np.array([1.0004, 0.9996, 5.0, -5.0, 0.0])
    assert _parted(near, rounding) == pytest.approx([4e-4, 4e-4, 1e-6, 2e-6, 1e-6], rel=1e-9)
    far = np.array([1.0006, 0.9994, 5.0, -5.0, 0.0])
    assert _parted(far, rounding) == pytest.approx(rounding, rel=1e-9)
    turned = np.array([3 + 4e-4j, 3 - 4e-4j])
    assert _parted(turned, rounding[:2]) == pytest.approx([4e-4, 4e-4], rel=1e-9)


def test_modes_from_sample_to_sample():
    """s = ln z/T: of z = 0.9 e^{±0.3j} once, of z = −0.5 with half the sampling rate, of z = 0 far to the left."""
    T = 0.02
    c, s = 0.9 * math.cos(0.3), 0.9 * math.sin(0.3)
    M = np.zeros((4, 4))
    M[:2, :2] = [[c, s], [-s, c]]
    M[2, 2] = -0.5
    found = modes_of(M, T, list("abcd"), 10.0)
    assert found[0].s == pytest.approx(math.log(0.9) / T + 0.3j / T)
    assert found[1].s == pytest.approx(math.log(0.5) / T + 1j * math.pi / T)
    assert found[2].s.real == pytest.approx(math.log(1e-300) / T) and len(found) == 3


# ---- what a supply fills ------------------------------------------------------------------------------------------------------
VALVE = SimpleNamespace(c_p1=3e-8, c_n1=5e-8, c_p2=4e-8, c_n2=2e-8, lag="ideal", u_max=10.0)
CYLINDER = SimpleNamespace(valve=VALVE, A_a=3e-3, A_b=2e-3)


@pytest.mark.parametrize("f_p", [-8e3, 0.0, 2e4])
@pytest.mark.parametrize("o", [-1.0, 1.0])
def test_a_steady_speed_fills_and_empties_alike(f_p, o):
    """Both flows through one spool drive the piston at one speed, and the pressures carry f_p: two equations, checked."""
    p_s, p_r = 1.6e7, 3e5
    filled_at = float(steady(CYLINDER, np.array(o), f_p, p_s, p_r))
    if o > 0:
        p_a = filled_at
        p_b = (3e-3 * p_a - f_p) / 2e-3
        fills, empties = 3e-8 * math.sqrt(p_s - p_a) / 3e-3, 2e-8 * math.sqrt(p_b - p_r) / 2e-3
    else:
        p_b = filled_at
        p_a = (f_p + 2e-3 * p_b) / 3e-3
        fills, empties = 4e-8 * math.sqrt(p_s - p_b) / 2e-3, 5e-8 * math.sqrt(p_a - p_r) / 3e-3
    assert fills == pytest.approx(empties, rel=1e-9)
    assert float(steady(CYLINDER, np.array(0.0), f_p, p_s, p_r)) == p_s


def moved(f_p, u, dx, p_s=1.6e7, hollow=""):
    """A run of one cylinder at a constant supply, and its chambers."""
    log = {"u_1": np.array(u, float), "dx_1": np.array(dx, float), "f_p1": np.array(f_p, float)}
    valve = SimpleNamespace(**vars(VALVE), opening=lambda u: np.asarray(u, float))
    c = SimpleNamespace(valve=valve, A_a=3e-3, A_b=2e-3)
    run = SimpleNamespace(
        log=SimpleNamespace(array=log.get, time=np.arange(float(len(u)))),
        loop=SimpleNamespace(plant=SimpleNamespace(p_r=3e5, p_s=p_s, supply_names=())),
        hollow=(1.0, hollow),
        left=(math.inf, ""),
    )
    run.loop.plant.notched = (Notched("1", c, "u_1", "", "dx_1", "f_p1"),)
    return run, c


def asked(f_p, u, dx, p_s=1.6e7):
    run, c = moved(f_p, u, dx, p_s)
    return fills(run)[0], c


def test_a_load_that_runs_away_from_the_oil():
    """Where the chamber that fills would come to rest below zero, and what the supply would have to be there."""
    held, c = asked([1e4, 1e4, -2e4], [5.0, 5.0, 5.0], [0.1, 0.1, 0.1])
    assert held.holds is True and "t = 2.00 s" in held.worst and "needs" not in held.worst
    assert held.margin == pytest.approx(float(steady(c, np.array(5.0), -2e4, 1.6e7, 3e5)))
    lost, c = asked([1e4, -9e4, -7e4, 1e4], [5.0] * 4, [0.1] * 4)
    assert lost.holds is False and lost.unit == "Pa" and "t = 1.00 s" in lost.worst
    assert "chamber a would" in lost.worst and "for 50 % of the time" in lost.worst
    need = float(lost.worst.split("not the ")[1].split(" bar")[0]) * 1e5
    assert float(steady(c, np.array(5.0), -9e4, need, 3e5)) == pytest.approx(0.0, abs=0.01 * 1.6e7)
    sinking, _ = asked([2e5], [-5.0], [-0.1])
    assert sinking.holds is False and "chamber b would" in sinking.worst


def test_only_motion_to_the_side_the_valve_is_open_to_counts():
    for u, dx in ((5.0, -0.1), (5.0, 0.0), (0.1, 0.1), (-0.1, -0.1)):
        assert asked([-9e4], [u], [dx])[0].margin == 1.6e7
    assert asked([-9e4], [0.11], [0.1])[0].holds is False


# ---- where a run is looked at --------------------------------------------------------------------------------------------------
def looked(speeds, names=(1, 2)):
    """What is looked at of a run of eleven rows whose states 1 and 2 are speeds."""
    n = len(speeds)
    x = np.zeros((n, 3))
    x[:, 1:] = speeds
    told = []
    fake = SimpleNamespace(
        log=SimpleNamespace(time=np.arange(n)),
        x=x,
        speeds=list(names),
        prepare=lambda: None,
        still=lambda k, where: told.append(("still", k, where)),
        moving=lambda k: told.append(("moving", k)),
        frozen=lambda k: told.append(("frozen", k)),
    )
    for look in TracedPoints.looks(fake):
        look()
    return told


def test_a_run_is_looked_at_where_it_begins_goes_and_ends():
    """At rest at both ends, frozen on the way, at its end and where it is fastest in sum; set in motion where a speed never was."""
    speeds = np.full((11, 2), 0.5 * SPEED)
    speeds[7] = 3 * SPEED, -2 * SPEED
    ends = [("still", 0, "at the start"), ("still", 10, "at the end")]
    way = [int(part * 10) for part in ON_THE_WAY]
    frozen = [("frozen", k) for k in dict.fromkeys((*way, 7, 10))]
    assert looked(speeds) == [*ends, *frozen]
    slow = speeds * [1.0, 0.09]
    slow[7, 1] = 0.19 * SPEED
    assert looked(slow) == [*ends, ("moving", 10), *frozen]
    slow[7, 1] = -0.21 * SPEED
    assert looked(slow) == [*ends, *frozen]
    assert looked(speeds, ()) == [*ends, *(("frozen", k) for k in dict.fromkeys((*way, 10)))]
    assert looked(speeds[7:8]) == [ends[0], ("frozen", 0)]


def test_a_load_that_runs_away_from_the_oil_is_named_where_a_chamber_ran_empty():
    lost, _ = moved([1e4, -9e4], [5.0, 5.0], [0.1, 0.1], hollow="p_a falls below vacuum")
    cause = unfilled(lost)
    assert cause.kind == "supply" and "empties cylinder 1 faster" in cause.words
    assert "higher supply pressure" in cause.words
    worse, c = moved([1e4, -9e4, -1e5], [5.0] * 3, [0.1] * 3, hollow="p_a falls below vacuum")
    worse.loop.plant.notched += (Notched("2", c, "u_1", "", "dx_1", "f_p2"),)
    worse.log.array.__self__["f_p2"] = np.array([1e4, -1.2e5, -1e5])
    assert "empties cylinder 2 faster" in unfilled(worse).words
    worse.loop.plant.notched = worse.loop.plant.notched[::-1]
    assert "empties cylinder 2 faster" in unfilled(worse).words, "the one that it fills least"
    full, _ = moved([1e4, -9e4], [5.0, 5.0], [0.1, 0.1])
    assert unfilled(full) is None, "no chamber ran empty: the steady state was never reached"
    away, _ = moved([1e4, -9e4], [5.0, 5.0], [0.1, 0.1], hollow="p_a falls below vacuum")
    away.left = (0.5, "x leaves its stroke")
    assert unfilled(away) is None, "the motion itself is wrong"
    held, _ = moved([1e4, 1e4], [5.0, 5.0], [0.1, 0.1], hollow="p_a falls below vacuum")
    assert unfilled(held) is None, "the supply fills it: something else emptied the chamber"
