"""Modes of a loop along its run: closed forms, what friction hides, what time may not show, what cannot be said."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pytest
from ledger_cases import CRANE, REAL, RUBBED, noisy, sampled
from scipy.linalg import expm
from small import Feedback, Linear

from controllers.vdc import VDC
from workbench import ClosedLoop, Delayed, Noisy, Quantised, Sampled, Scenario, Signal, System
from workbench.contract.parameters import Unit
from workbench.verification.linear.frozen_time import TracedPoints
from workbench.verification.linear.local import chambers
from workbench.verification.linear.modes import ASIDE, BRIEF, NEUTRAL, modes_of
from workbench.verification.linear.modes_of_run import slowest_and_unstable
from workbench.verification.run import run


def asked(loop, duration=2.0, **scenario):
    return slowest_and_unstable(run(loop, Scenario(duration=duration, **scenario), compiled=False))


def mass(k, d, extra=()):
    """x₁̇ = x₂, x₂̇ = −k x₁ − d x₂ + u, both measured, and states of their own with these eigenvalues."""
    n = 2 + len(extra)
    A = np.zeros((n, n))
    A[0, 1], A[1, 0], A[1, 1] = 1.0, -k, -d
    A[range(2, n), range(2, n)] = extra
    B = [[0.0], [1.0], *[[0.0]] * len(extra)]
    C = np.eye(n)[:2]
    return Linear(tuple(map(tuple, A)), tuple(map(tuple, B)), tuple(map(tuple, C)), x0=(0.0,) * n)


# ---- against closed forms ------------------------------------------------------------------------
@pytest.mark.parametrize("T", [None, 0.01], ids=["continuous", "sampled"])
def test_the_slowest_mode_is_the_one_that_takes_longest(T):
    """s² + d s + k + K = 0 beside a lone mode: rate, period, and how long a run must be."""
    plant = mass(2.0, 0.3, extra=(-0.9,))
    law = Feedback(plant, ((7.0, 0.0),))
    found = asked(ClosedLoop(plant, law if T is None else Sampled(law, T)))
    swings = complex(-0.15, np.sqrt(9.0 - 0.15**2))
    lag = (
        0.0 if T is None else T
    )  # the hold comes half a sample late and takes 7 T/2 of the damping
    assert (
        found.unstable == ()
        and found.reasons == ()
        and {p.rests for p in found.places} == {True, False}
    )
    assert found.slowest.s.real == pytest.approx(swings.real + 7.0 * lag / 4, rel=0.02)
    assert abs(found.slowest.s.imag) == pytest.approx(swings.imag, rel=0.01)
    assert found.slowest.period == pytest.approx(2 * np.pi / 3, rel=0.01)
    assert found.slowest.settles == pytest.approx(5 / -found.slowest.s.real)
    assert set(found.slowest.states) == {"x0", "x1"} and "period of 2.1 s" in found.words
    rates = {round(m.s.real, 2) for p in found.places for m in p.modes}
    assert -0.9 in rates


def test_three_periods_count_where_they_are_longer():
    plant = mass(0.04, 0.38)  # s = −0.19 ± 0.062j
    found = asked(ClosedLoop(plant, Feedback(plant, ((0.0, 0.0),))))
    assert np.isinf(found.slowest.period) and found.slowest.settles == pytest.approx(5 / 0.19)
    plant = mass(0.04, 0.2)  # −0.1 ± 0.173j: five time constants are 50 s, three periods 108.8 s
    found = asked(ClosedLoop(plant, Feedback(plant, ((0.0, 0.0),))))
    assert found.slowest.settles == pytest.approx(3 * 2 * np.pi / np.sqrt(0.04 - 0.01))


@pytest.mark.parametrize("T", [None, 0.01], ids=["continuous", "sampled"])
@pytest.mark.parametrize("gain, grows", [(0.6, False), (1.4, True)])
def test_a_mode_that_grows_is_found_although_the_run_rests(T, gain, grows):
    """Positive feedback of the speed against d = 1: it stands still for ever, and nothing in its signals moves."""
    plant = mass(4.0, 1.0)
    law = Feedback(plant, ((0.0, -gain),))
    found = asked(ClosedLoop(plant, law if T is None else Sampled(law, T)))
    assert bool(found.unstable) is grows
    if grows:
        assert (
            found.unstable[0].s.real == pytest.approx(0.2, rel=0.05)
            and "at the start" in found.words
        )


def test_a_mode_no_output_shows_is_found():
    plant = mass(4.0, 1.0, extra=(0.25,))
    found = asked(ClosedLoop(plant, Sampled(Feedback(plant, ((1.0, 0.0),)), 0.01)))
    assert found.unstable[0].s.real == pytest.approx(0.25, rel=1e-3) and found.unstable[
        0
    ].states == ("x2",)
    neutral = mass(4.0, 1.0, extra=(0.0,))
    found = asked(ClosedLoop(neutral, Sampled(Feedback(neutral, ((1.0, 0.0),)), 0.01)))
    assert found.unstable == () and found.slowest.s.real == pytest.approx(-0.5, rel=0.02)


def test_a_delay_of_a_fraction_of_a_sample_is_in_the_modes():
    """1/s under u = −K y, late by τ: stable for K τ < π/2, whatever fraction of a sample that is."""
    plant = Linear(((0.0,),), ((1.0,),), ((1.0,),), x0=(0.0,))
    loop = lambda τ: ClosedLoop(
        plant, Delayed(Sampled(Feedback(plant, ((3.0,),)), 1e-2), τ, capacity=60)
    )
    assert asked(loop(0.493)).unstable == ()  # 0.005 for the hold: π/6 s in all is the edge
    assert asked(loop(0.543)).unstable


@pytest.mark.parametrize("T", [None, 0.05], ids=["continuous", "sampled"])
@pytest.mark.parametrize("seed", range(3))
def test_every_mode_is_told_once_the_least_stable_first(T, seed):
    """Two pairs and a real mode in other coordinates: of each pair the one with positive frequency."""
    rng = np.random.default_rng(seed)
    grows = np.sort(rng.uniform(-3.0, 1.0, 3))[::-1]
    ω = rng.uniform(0.5, 9.0, 2)
    A = np.zeros((5, 5))
    for i in range(2):
        A[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = [[grows[i], ω[i]], [-ω[i], grows[i]]]
    A[4, 4] = grows[2]
    V = rng.normal(size=(5, 5))
    A = V @ A @ np.linalg.inv(V)
    found = modes_of(A if T is None else expm(T * A), T, tuple("abcde"), 7.0)
    expected = [complex(grows[0], ω[0]), complex(grows[1], ω[1]), complex(grows[2], 0.0)]
    assert [m.s for m in found] == pytest.approx(expected, rel=1e-6)
    assert [m.bound for m in found] == pytest.approx([NEUTRAL / BRIEF] * 3)
    twice = modes_of(A if T is None else expm(T * A), T, tuple("abcde"), 2 * BRIEF)
    assert [m.bound for m in twice] == pytest.approx([NEUTRAL / BRIEF / 2] * 3)
    (*_, late) = modes_of(A if T is None else expm(T * A), T, tuple("abcde"), 7.0, rests=False)
    assert late.bound == pytest.approx(1 / 7.0)


def test_of_a_mode_the_two_states_that_take_part_most_are_named():
    for shares, names in (((0.52, 0.3, 0.18), "ab"), ((0.1, 0.13, 0.77), "c")):
        v = np.sqrt(shares)
        others = np.linalg.svd(v[None])[2][1:].T
        M = -0.4 * np.outer(v, v) - others @ np.diag([1.0, 2.0]) @ others.T
        assert modes_of(M, None, tuple("abc"), 10.0)[0].states == tuple(names)


def test_dead_beat_has_decayed():
    (mode,) = modes_of(np.zeros((1, 1)), 0.01, ("a",), 10.0)
    assert mode.decays and 0 < mode.time_constant < 1e-4


@pytest.mark.parametrize("share, aside", [(ASIDE + 0.01, True), (ASIDE - 0.01, False)])
@pytest.mark.parametrize("mixed", [0.0, 0.7])
def test_the_share_of_a_mode_in_the_pressures_of_several_cylinders(share, aside, mixed):
    """A unit vector, its square split between two common modes and what is none of them."""
    first, second, rest = np.eye(4)[[0, 2, 3]]
    common = np.cos(mixed) * first + np.sin(mixed) * second
    v = np.sqrt(share) * common + np.sqrt(1 - share) * rest
    others = np.linalg.svd(v[None])[2][1:].T  # orthogonal to it
    M = -0.3 * np.outer(v, v) - others @ np.diag([2.0, 3.0, 5.0]) @ others.T
    found = modes_of(M, None, tuple("abcd"), 10.0, commons=np.array([first, second]))
    assert found[0].s.real == pytest.approx(-0.3) and found[0].aside is aside


@pytest.mark.parametrize("which", [0, 1, 2])
def test_each_mode_has_its_own_share_of_the_common_pressures(which):
    """Of three real modes the one that lies in it stands aside, slowest or not."""
    M = np.diag([-0.3, -2.0, -7.0])
    found = modes_of(M, None, tuple("abc"), 10.0, commons=np.eye(3)[[which]])
    assert [m.aside for m in found] == [i == which for i in range(3)]


# ---- friction, and what moves --------------------------------------------------------------------
@dataclass(frozen=True)
class Rubbed(System):
    """q̇ = v, m v̇ = u − F tanh(v/v_s) − b v: at rest a damper of F/v_s."""

    F: Annotated[float, Unit("N")] = 40.0
    v_s: Annotated[float, Unit("m/s")] = 1e-3
    b: Annotated[float, Unit("N s/m")] = 2.0
    states = outputs = (Signal("q", "m"), Signal("v", "m/s"))
    inputs = (Signal("u", "N"),)

    def initial(self):
        return [0.0, 0.0]

    def rhs(self, t, x, u):
        return [x[1], (u[0] - self.F * np.tanh(x[1] / self.v_s) - self.b * x[1]) / 1.7]

    def out(self, t, x):
        return list(x)


@pytest.mark.parametrize("b, grows", [(2.0, True), (9.0, False)])
def test_friction_at_rest_does_not_hide_what_a_moving_loop_does(b, grows):
    """K = 300 N/m held over 40 ms takes 6 N s/m of damping away: more than b, less than F/v_s at rest."""
    plant = Rubbed(b=b)
    law = Feedback(plant, ((300.0, 0.0),))
    found = asked(ClosedLoop(plant, Sampled(law, 0.04)))
    at_rest = [p for p in found.places if p.rests]
    assert at_rest and not any(m.grows for p in at_rest for m in p.modes)
    assert bool(found.unstable) is grows
    if grows:
        assert "in motion" in found.words and found.unstable[0].states[0] in ("q", "v")


@dataclass(frozen=True)
class Passing(System):
    """ẋ = (−1 + g e^{−((c − c_0)/w)²}) x with a clock ċ = 1: it grows while the clock passes c_0."""

    w: Annotated[float, Unit("1")] = 0.02
    g: Annotated[float, Unit("1/s")] = 4.0
    states = outputs = (Signal("x"), Signal("c"))
    inputs = (Signal("u"),)

    def initial(self):
        return [0.1, 0.0]

    def rhs(self, t, x, u):
        return [
            (-1 + self.g * np.exp(-(((x[1] - 0.94) / self.w) ** 2))) * x[0] + u[0],
            1.0 + 0.0 * x[1],
        ]

    def out(self, t, x):
        return list(x)


@pytest.mark.parametrize("w, grows", [(0.02, False), (0.8, True)])
def test_what_grows_for_an_instant_only_is_no_instability(w, grows):
    """Growth of 3 1/s needs a third of a second to mean anything."""
    plant = Passing(w=w)
    found = asked(ClosedLoop(plant, Feedback(plant, ((0.0, 0.0),))))
    assert bool(found.unstable) is grows and not any(p.rests for p in found.places)


# ---- cranes --------------------------------------------------------------------------------------
def test_a_crane_under_vdc_and_with_gains_far_too_high():
    sound = asked(sampled(CRANE), 0.02)
    assert sound.unstable == () and sound.slowest.s.real == pytest.approx(
        -8.0, rel=0.02
    )  # λ = 8 1/s
    assert asked(sampled(CRANE, k_x=(6e-2,), βk_f=(3000.0,)), 0.02).unstable


def test_neither_common_pressures_nor_bristles_are_the_slowest_mode():
    found = asked(sampled(RUBBED), 0.02)
    assert found.slowest is not None and not found.slowest.aside
    assert any(m.aside for p in found.places for m in p.modes)
    assert found.slowest.time_constant < 1.0


def test_the_common_modes_of_two_cylinders_are_two_and_move_no_force():
    loop = sampled(REAL)
    points = TracedPoints(run(loop, Scenario(duration=0.02), compiled=False))
    points.prepare()
    found = points.commons
    assert found @ found.T == pytest.approx(np.eye(2), abs=1e-14)
    pairs = list(chambers(REAL, points.state).items())
    assert len(pairs) == 2
    for row, (first, (second, cylinder)) in zip(found, pairs):
        p_a, p_b = (row[points.state.index(n)] for n in (first, second))
        assert cylinder.A_a * p_a == pytest.approx(cylinder.A_b * p_b) and p_a * p_b > 0
        assert np.count_nonzero(row) == 2


def test_noise_and_rounding_are_left_out():
    """A loop with both has the modes of the loop without."""
    bare = asked(sampled(CRANE), 0.02)
    law = VDC(model=CRANE)
    rough = asked(
        ClosedLoop(CRANE, Sampled(Quantised(Noisy(law, 1.0, ("p",)), 1e-6, ("q",)), 1e-3)), 0.02
    )
    assert rough.reasons == () and rough.slowest.s.real == pytest.approx(
        bare.slowest.s.real, rel=0.02
    )
    assert asked(
        ClosedLoop(CRANE, noisy(VDC(model=CRANE, k_x=(6e-2,), βk_f=(3000.0,)))), 0.02
    ).unstable


# ---- what cannot be said -------------------------------------------------------------------------
def test_a_law_without_a_derivative_has_a_reason():
    """A called law with a corner where it stands has no derivative there."""
    found = asked(ClosedLoop(mass(4.0, 1.0), lambda t, y, r: [-abs(y[0])]), 0.1)
    assert found.places == () and found.slowest is None
    assert "bent" in found.reasons[0] and found.words == found.reasons[0]


class Gain:
    """u = −K y, called from Python, which says what it does near rest."""

    measured, commands, T_s = ("y0", "y1"), ("u0",), 0.01

    def __init__(self, K):
        self.K = np.array([K])

    def linear_law(self):
        return np.zeros((0, 0)), np.zeros((0, 2)), np.zeros((1, 0)), -self.K

    def step(self, t, z, y, r):
        return z, [-float(self.K[0] @ y)]


@pytest.mark.parametrize("gain, grows", [(0.6, False), (1.4, True)])
def test_a_called_law_that_says_what_it_does_near_rest(gain, grows):
    found = asked(ClosedLoop(mass(4.0, 1.0), Gain((0.0, -gain))), 0.5)
    assert bool(found.unstable) is grows and found.reasons == () and len(found.places) == 3


def test_a_plant_that_changes_with_time_has_a_reason():
    @dataclass(frozen=True)
    class Timed(System):
        states = outputs = (Signal("x"),)
        inputs = (Signal("u"),)

        def initial(self):
            return [0.0]

        def rhs(self, t, x, u):
            return [-(2 + np.cos(3 * t)) * x[0] + u[0]]

        def out(self, t, x):
            return list(x)

    plant = Timed()
    found = asked(ClosedLoop(plant, Feedback(plant, ((1.0,),))), 0.1)
    assert found.places == () and "changes with time" in found.words


def test_a_mode_within_rounding_neither_grows_nor_decays():
    rotation = np.array([[np.cos(0.3), np.sin(0.3)], [-np.sin(0.3), np.cos(0.3)]])
    (mode,) = modes_of(rotation, 0.01, ("a", "b"), 10.0)
    assert (
        not mode.grows
        and not mode.decays
        and np.isinf(mode.time_constant)
        and mode.words.startswith("neutral")
    )
    (mode,) = modes_of(1.001 * rotation, 0.01, ("a", "b"), 10.0)
    assert mode.grows and mode.s.real == pytest.approx(np.log(1.001) / 0.01)


def test_a_double_mode_that_rounding_parted_is_neutral_and_what_grows_beside_it_is_not():
    """Of a double mode at 1 with one vector: entries that are δ off part it by √δ into one that grows and one that decays."""
    Q, _ = np.linalg.qr(np.random.default_rng(4).normal(size=(6, 6)))
    T, names = 1e-3, tuple("abcdef")

    def growing(δ, beside=0.3):
        M = np.diag([1.0, 1.0, beside, 0.5, 0.6, 0.7])
        M[0, 1], M[1, 0] = 1.0, δ
        return [m.s.real for m in modes_of(Q @ M @ Q.T, T, names, 10.0) if m.grows]

    assert growing(1e-12) == [] and growing(-1e-12) == []
    assert growing(1e-9) == [pytest.approx(np.log(1 + np.sqrt(1e-9)) / T, rel=1e-3)]
    assert growing(1e-12, 1.0 + 2e-6) == [pytest.approx(2e-3, rel=1e-3)]


def test_groups_that_hang_together_through_others():
    """0-3-1 hang together through 3, 2 and 4 do, 5 is alone; scipy's components are the same for random ones."""
    from scipy.sparse.csgraph import connected_components

    from workbench.verification.linear.modes import connected

    alike = np.zeros((6, 6), bool)
    for i, j in ((0, 3), (3, 1), (2, 4)):
        alike[i, j] = alike[j, i] = True
    assert connected(alike).tolist() == [0, 0, 2, 0, 2, 5]
    assert connected(np.zeros((1, 1), bool)).tolist() == [0]
    rng = np.random.default_rng(2)
    for share in (0.02, 0.1, 0.3):
        drawn = rng.random((20, 20)) < share
        drawn |= drawn.T
        ours, theirs = connected(drawn), connected_components(drawn)[1]
        assert ((ours[:, None] == ours) == (theirs[:, None] == theirs)).all()
