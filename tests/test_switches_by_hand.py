"""What the switches of a law that is an expression compare: two states, two numbers of memory, behind a delay."""

from dataclasses import dataclass
from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest
from small import Following

from workbench import ClosedLoop, Hold, Sampled, Scenario, Signal, System
from workbench.contract.wrappers import Delayed
from workbench.numerics.calculus import trace
from workbench.verification.practical.switches import expression as switches_module
from workbench.verification.practical.switches.expression import (
    Expression,
    _of_wrappers,
    of_expression,
)
from workbench.verification.practical.switches.graph import WIDTH, _shown, switches_in
from workbench.verification.practical.switches.margins import MOST
from workbench.verification.run import run as simulated

T = 0.02


@dataclass(frozen=True)
class Two(System):
    """ẏ = u + 0.5 w, ẇ = −4 w."""

    states = (Signal("y", "m", "place"), Signal("w", "m", "what fades"))
    outputs = states
    inputs = (Signal("u", "m", "command"),)

    def initial(self):
        return [0.3, -0.4]

    def rhs(self, t, x, u):
        return [u[0] + 0.5 * x[1], -4 * x[1]]

    def out(self, t, x):
        return list(x)


@dataclass(frozen=True)
class Picky(Following):
    """Compares e with h and w with z_2; z_1 sums up e, z_2 stays at 0.25."""

    h: float = 0.05

    states = (Signal("z_1", "m", "sum"), Signal("z_2", "m", "level"))

    def start(self, t, x0, y, r):
        return [0.0, 0.25]

    def step(self, t, z, y, r):
        e = r[0] - y[0]
        gain = np.where(e < self.h, 5.0, 6.0)
        return [z[0] + T * e, z[1]], [gain * e + np.minimum(y[1], z[1])]


@pytest.fixture(scope="module")
def seen():
    loop = ClosedLoop(Two(), Delayed(Sampled(Picky(Two()), T), T / 2))
    return simulated(loop, Scenario(1.8, Hold("output", (0.1,))))


@pytest.fixture
def law(seen):
    return Expression(seen.loop, trace(seen.loop, seen.demand.live))


def order(law):
    """Numbers of the two switches: the one of e, the one of w."""
    kinds = [kind for kind, _, _ in law.switches]
    assert sorted(kinds) == sorted([ca.OP_LT, ca.OP_FMIN])
    return kinds.index(ca.OP_LT), kinds.index(ca.OP_FMIN)


def test_margins_are_differences_of_what_is_compared_at_each_sample(seen, law):
    e, w = order(law)
    rows, low, high = law.margins(seen)
    assert rows.tolist() == list(range(len(seen.log.time))) and np.array_equal(low, high)
    y, fading = seen.log.array("y"), seen.log.array("w")
    assert low[e] == pytest.approx(0.1 - y - 0.05)
    assert low[w] == pytest.approx(fading - 0.25)


def test_of_a_long_run_equally_spaced_rows_are_asked(law, seen, monkeypatch):
    n = 3 * MOST + 7
    log = SimpleNamespace(time=np.arange(n) * T, array=lambda name: np.zeros(n))
    asked = []
    monkeypatch.setattr(Expression, "_mapped", lambda self, f, run, rows, x: asked.append(x.shape))
    monkeypatch.setattr(Expression, "_sided", lambda self, margins: margins)
    rows, _, _ = law.margins(SimpleNamespace(log=log, loop=seen.loop))
    assert len(rows) == MOST and (rows[0], rows[-1]) == (0, n - 1)
    assert asked == [(len(seen.loop.states), MOST)]


def test_what_it_remembers_is_told_from_what_a_wrapper_holds(seen, law):
    """z_1 is a sum that covers something, z_2 stays; a delay's held command leads nowhere by itself."""
    assert law.remembers(seen)
    kept = [s.name for s in seen.loop.states][2:]
    covered = dict(zip(kept, law.covered(seen)))
    own = np.ptp(seen.log.array("z_1"))
    held = set(kept) - {"z_1", "z_2"}
    assert held and _of_wrappers(seen.loop.controller) == held
    assert covered.pop("z_1") == pytest.approx(own) and not any(covered.values())


def test_a_memory_is_looked_at_from_the_start_to_the_end(seen, law, monkeypatch):
    looks = []
    monkeypatch.setattr(
        switches_module, "within", lambda time, values: looks.append((time, values)) or 7.0
    )
    covered = law.covered(seen)
    own = [seen.log.array(name) for name in ("z_1", "z_2")]
    for (time, values), expected in zip(looks, own, strict=True):
        assert np.array_equal(time, seen.log.time) and np.array_equal(values, expected)
    assert sorted(covered) == [0.0] * (len(covered) - 2) + [7.0, 7.0]


def test_a_law_shows_what_follows_from_its_states(seen, law):
    points = np.tile(np.concatenate(law.at(seen, 5))[:, None], 3)
    points[0] += 0.1, 0.0, -0.2
    shown = law.shown(seen, 5, points)
    assert list(shown) == [s.name for s in seen.loop.monitors]
    assert shown["u"] == pytest.approx([seen.log.array("u")[5]] * 3)


def test_a_law_is_asked_beside_a_row(seen, law):
    """At points of its own states and memory; y and w 0.2 and 0.5 off, z_2 raised by 1 in the second."""
    e, w = order(law)
    row = 5
    x, z = law.at(seen, row)
    assert x == pytest.approx([seen.log.array(n)[row] for n in ("y", "w")])
    kept = [s.name for s in seen.loop.states][2:]
    assert z == pytest.approx([seen.log.array(n)[row] for n in kept])
    points = np.tile(np.concatenate([x, z])[:, None], 2)
    points[0] += 0.2
    points[1] += 0.5
    level = 2 + kept.index("z_2")
    points[level, 1] += 1.0
    low, high, commands, memory, flow = law.ask(seen, row, points)
    assert flow[1] == pytest.approx([-4 * (x[1] + 0.5)] * 2)
    off = 0.1 - (x[0] + 0.2)
    assert low[e] == pytest.approx([off - 0.05] * 2) and np.array_equal(low, high)
    assert low[w] == pytest.approx([x[1] + 0.5 - 0.25, x[1] + 0.5 - 1.25])
    gain = 5.0 if off < 0.05 else 6.0
    u = [gain * off + min(x[1] + 0.5, level) for level in (0.25, 1.25)]
    assert commands[0] == pytest.approx(u)
    assert memory == pytest.approx(np.array([[z[kept.index("z_1")] + T * off] * 2, [0.25, 1.25]]))


def test_switches_in_words(seen, law):
    e, w = order(law)
    assert law.words(e, seen) == "(y_d-y) < 0.05"
    assert law.words(w, seen) == "the smaller of w and z_2"


def switches(*expressions):
    return [(op, str(a), str(b)) for op, a, b in switches_in(expressions)]


def test_switches_of_a_graph():
    """Each once however often it is used, those inside others too; a sign and a magnitude are compared with zero."""
    a, b = ca.SX.sym("a"), ca.SX.sym("b")
    smaller = ca.fmin(a, b)
    found = switches(smaller + ca.sign(b) * ca.fabs(a - b), smaller * 2, a + b)
    assert sorted(found) == sorted(
        [(ca.OP_FMIN, "a", "b"), (ca.OP_SIGN, "b", "0"), (ca.OP_FABS, "(a-b)", "0")]
    )
    inside = switches(ca.fmax(ca.if_else(a <= 2, a, b), 3))
    assert {op for op, _, _ in inside} == {ca.OP_FMAX, ca.OP_LE}
    assert switches(a * b + 1, ca.SX(2.0)) == []


def test_expressions_are_shown_as_they_stand_or_by_what_they_depend_on():
    a, b = ca.SX.sym("a"), ca.SX.sym("b")
    assert _shown(ca.SX(1.23456789)) == "1.235"
    assert _shown(a - b) == "(a-b)"
    sum_of_both = a * b + a
    square = ca.sin(sum_of_both) * ca.exp(sum_of_both)
    assert "@" in str(square) and _shown(square) == "what follows from a, b"
    just, beyond = ca.SX.sym("c" * WIDTH), ca.SX.sym("c" * (WIDTH + 1))
    assert _shown(just) == "c" * WIDTH
    assert _shown(beyond) == f"what follows from {'c' * (WIDTH + 1)}"


def words(op, *values):
    """A switch in words, of a law with one constant that is 7."""
    fake = object.__new__(Expression)
    c = ca.SX.sym("c")
    fake.switches = [(op, *(c if v == "c" else v for v in values))]
    fake.symbols = [None, None, None, c]
    fake.traced = SimpleNamespace(constants=lambda loop: [7.0])
    return fake.words(0, SimpleNamespace(loop=None))


def test_every_kind_of_switch_has_words_and_constants_their_values():
    a = ca.SX.sym("a")
    assert words(ca.OP_LT, a, "c") == "a < 7" and words(ca.OP_LE, "c", a) == "7 <= a"
    assert words(ca.OP_FMIN, a, "c") == "the smaller of a and 7"
    assert words(ca.OP_FMAX, "c", a) == "the larger of 7 and a"
    assert words(ca.OP_SIGN, a, ca.SX(0)) == "the sign of a"
    assert words(ca.OP_FABS, a, ca.SX(0)) == "the magnitude of a"


@dataclass(frozen=True)
class Smooth(Picky):
    """Remembers nothing and compares nothing."""

    states = ()

    def start(self, t, x0, y, r):
        return []

    def step(self, t, z, y, r):
        return [], [2.0 * (r[0] - y[0])]


@dataclass(frozen=True)
class Clipped(Smooth):
    """Remembers nothing."""

    def step(self, t, z, y, r):
        return [], [np.minimum(2.0 * (r[0] - y[0]), 1.0)]


def test_a_law_that_remembers_nothing():
    loop = ClosedLoop(Two(), Sampled(Clipped(Two()), T))
    run = simulated(loop, Scenario(0.2, Hold("output", (0.1,))))
    law = of_expression(run)
    assert not law.remembers(run)
    x, z = law.at(run, 2)
    points = np.tile(np.concatenate([x, z])[:, None], 4)
    assert [part.shape for part in law.ask(run, 2, points)] == [
        (1, 4),
        (1, 4),
        (1, 4),
        (0, 4),
        (2, 4),
    ]


@dataclass(frozen=True)
class Flowing(Picky):
    """ż_1 = min(e, 0.5), ż_2 = −z_2, u = z_1 + 3 z_2 + e."""

    def rhs(self, t, z, y, r):
        return [np.minimum(r[0] - y[0], 0.5), -z[1]]

    def command(self, t, z, y, r):
        return [z[0] + 3.0 * z[1] + r[0] - y[0]]


def test_a_law_in_continuous_time_is_asked_for_its_command_and_its_rates():
    loop = ClosedLoop(Two(), Flowing(Two()))
    run = simulated(loop, Scenario(0.2, Hold("output", (0.1,))))
    law = of_expression(run)
    points = np.array([[0.4, -1.0], [2.0, 2.0], [0.7, 0.7], [0.2, 0.3]])
    low, _, commands, memory, flow = law.ask(run, 0, points)
    assert flow == pytest.approx(np.array([commands[0] + 0.5 * points[1], -4 * points[1]]))
    assert low == pytest.approx(np.array([[-0.8, 0.6]]))
    assert commands == pytest.approx(np.array([[0.7 + 0.6 - 0.3, 0.7 + 0.9 + 1.1]]))
    assert memory == pytest.approx(np.array([[-0.3, 0.5], [-0.2, -0.3]]))


def test_a_law_that_compares_nothing_has_no_switches():
    """A user's own is followed as a curve all the same."""
    loop = ClosedLoop(Two(), Sampled(Smooth(Two()), T))
    run = simulated(loop, Scenario(0.2, Hold("output", (0.1,))))
    law = of_expression(run)
    assert law.users and not len(law.switches)
