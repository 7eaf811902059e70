"""Branches of a law that no run took: latches, relays and other gains just beyond the other starts; and laws that only limit."""

import math
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import pytest
from small import Following
from test_law_memory import Lag

from workbench import (
    ClosedLoop,
    Controller,
    Hold,
    Sampled,
    Scenario,
    Signal,
    Sine,
    System,
    Waypoints,
    simulate,
)
from workbench.contract.parameters import Unit
from workbench.contract.plain import Plain
from workbench.verification import claims as C
from workbench.verification.judge import verify
from workbench.verification.practical.branches import untaken

T = 0.02
PATH = Sine("output", (0.0,), (0.02,), 0.5)


@dataclass(frozen=True)
class Falling(System):
    """ẏ = 2 u + y: it falls away where nothing holds it."""

    a: Annotated[float, Unit("1/s")] = 1.0

    states = outputs = (Signal("y", "m", "place"),)
    inputs = (Signal("u", "m", "command"),)

    def initial(self):
        return [0.0]

    def rhs(self, t, x, u):
        return [2.0 * np.clip(u[0], -5.0, 5.0) + self.a * x[0]]

    def limits(self):
        return {"u": (-5.0, 5.0)}

    def out(self, t, x):
        return list(x)


FALLS = Falling()


def practical(law, path=PATH, duration=4.0, plant=None):
    plant = plant or Lag()
    law = law(plant) if isinstance(law, type) and issubclass(law, Controller) else law
    loop = ClosedLoop(plant, Sampled(law, T))
    (verdict,) = verify(loop, Scenario(duration, path), [C.PracticalStability()])
    return verdict


@dataclass(frozen=True)
class Traced(Following):
    """u = 10 e, and what `answer` makes of it: a law that is an expression with one number of memory."""

    h: Annotated[float, Unit("m")] = 0.05

    states = (Signal("mode", "1", "what it remembers"),)

    def step(self, t, z, y, r):
        return self.answer(z[0], r[0] - y[0], y[0], r[0])

    def answer(self, z, e, y, r) -> Any:
        raise NotImplementedError


class Latch(Traced):
    """Off for ever once the error was beyond h."""

    def answer(self, z, e, y, r):
        off = np.where(abs(e) > self.h, 1.0, z)
        return [off], [np.where(off > 0.5, 0.0, 10 * e)]


class Gate(Traced):
    """Off for ever once the place was beyond 4 h."""

    def answer(self, z, e, y, r):
        off = np.where(y > 4 * self.h, 1.0, z)
        return [off], [np.where(off > 0.5, 0.0, 10 * e)]


class Relay(Traced):
    """A relay with hysteresis beside the gain: it pushes the error away from the side on which it was last beyond h."""

    def answer(self, z, e, y, r):
        side = np.where(e > self.h, -1.0, np.where(e < -self.h, 1.0, z))
        return [side], [10 * e + 2.0 * side]


class Patient(Traced):
    """Off for ever once the error was beyond h for two seconds on end."""

    def answer(self, z, e, y, r):
        count = np.where(abs(e) > self.h, z + 1.0, np.where(z > 100.0, z, 0.0))
        return [count], [np.where(count > 100.0, 0.0, 10 * e)]


class Turned(Traced):
    """The gain turns its sign beyond h, without a jump."""

    def answer(self, z, e, y, r):
        return [z], [10 * np.minimum(e, self.h) - 40 * np.maximum(e - self.h, 0.0)]


class Limited(Traced):
    """Limits of the integral, of the command and of its rate, a dead band, and the sum wound back."""

    def answer(self, z, e, y, r):
        v = 10 * e + z
        u = np.clip(v, -1.0, 1.0)
        total = np.clip(z + T * (0.5 * e + 0.4 * (u - v)), -0.4, 0.4)
        return [total], [u]


class Zones(Traced):
    """Other gains beyond h, at once, and both bring it back."""

    def answer(self, z, e, y, r):
        return [z], [np.where(abs(e) > self.h, 6 * e, 10 * e)]


class Far(Latch):
    """A latch further off than the machine goes."""

    def answer(self, z, e, y, r):
        off = np.where(abs(e) > 1e4 * self.h, 1.0, z)
        return [off], [np.where(off > 0.5, 0.0, 10 * e)]


class OfReference(Traced):
    """Another mode for references that this scenario does not have."""

    def answer(self, z, e, y, r):
        return [z], [np.where(r > 1.0, 0.0, 10 * e)]


@pytest.mark.parametrize(
    "law, compared",
    [
        (Latch, "0.05 < fabs((y_d-y))"),
        (Gate, "0.2 < y"),
        (Relay, "(y_d-y) < -0.05"),
        (Turned, "(y_d-y)"),
    ],
)
def test_a_branch_beyond_the_other_starts_is_undecided(law, compared):
    found = practical(law)
    assert found.holds is None
    assert "no run took the other side of" in found.worst and compared in found.worst


def test_what_a_count_leads_to_is_undecided_though_every_start_comes_back():
    found = practical(Patient, duration=8.0)
    assert found.holds is None and "what the law remembers may lead there" in found.worst


@pytest.mark.parametrize("law", [Limited, Zones, Far, OfReference])
def test_limits_zones_that_bring_it_back_and_what_is_out_of_reach_hold(law):
    found = practical(law)
    assert found.holds is True, found.worst


# ---- laws called from Python --------------------------------------------------------------------------------------------
class Called:
    """A law with a flag and a number."""

    references = ("y_d",)

    def __init__(self):
        self.off, self.sum, self.last = False, 0.0, 0.0

    def step(self, t, z, y, r):
        return z, [self.answer(r[0] - y[0], y[0], r[0])]


class CalledLatch(Called):
    def answer(self, e, y, r):
        if abs(e) > 0.05:
            self.off = True
        return 0.0 if self.off else 10 * e


class CalledGate(Called):
    def answer(self, e, y, r):
        self.off = self.off or not -0.2 < y < 0.2
        return 0.0 if self.off else 10 * e


class CalledRelay(Called):
    last = 1.0

    def answer(self, e, y, r):
        self.sum = float(np.where(e > 0.05, -1.0, np.where(e < -0.05, 1.0, self.sum)))
        return 10 * e + 2.0 * self.sum


class CalledSign(Called):
    def answer(self, e, y, r):
        return 10 * e - 3.0 * (1 + np.sign(abs(e) - 0.05))


def helper(e):
    return -10 * e if np.abs(np.array([e])).max() > 0.05 else 10 * e


def function(t, y, r):
    """Turned round beyond a size, by a function of its own and an array."""
    return [helper(r[0] - y[0])]


class CalledLimits(Called):
    def answer(self, e, y, r):
        self.sum = min(max(self.sum + T * 0.5 * e, -0.4), 0.4)
        u = 10 * e + self.sum
        if u > 1.0:
            u = 1.0
        elif u < -1.0:
            u = -1.0
        u = float(np.clip(u, self.last - 0.9, self.last + 0.9))
        self.last = u
        return u


class CalledZones(Called):
    def answer(self, e, y, r):
        if abs(e) > 0.05 and abs(y) < 100.0:
            return 6 * e
        return 10 * e if r < 1.0 else 0.0


class Band(Called):
    """The gain `inside` beyond h, where the reference is in a narrow band alone; one condition, or one below another."""

    def __init__(self, inside, nested):
        super().__init__()
        self.inside, self.nested = inside, nested

    def answer(self, e, y, r):
        return self.below(e, r) if self.nested else self.whole(e, r)

    def whole(self, e, r):
        if (
            0.049 < r < 0.051
            and abs(e) > 0.05
        ):  # fmt: skip
            return self.inside * e
        return 10 * e

    def below(self, e, r):
        if 0.049 < r < 0.051:
            if abs(e) > 0.05:
                return self.inside * e
        return 10 * e


@pytest.mark.parametrize("inside, holds", [(-10.0, None), (7.0, True)])
@pytest.mark.parametrize("nested", [False, True])
def test_a_branch_on_the_part_of_the_path_with_a_narrow_band_of_references(nested, inside, holds):
    """The path rests there for a second of nine, neither at its ends nor where it goes furthest."""
    loop = ClosedLoop(FALLS, Sampled(Band(inside, nested), T))
    path = Waypoints("output", ("start", (0.1,), (0.05,), (0.0,)), 2.0, dwell=1.0)
    (found,) = verify(loop, Scenario(9.0, path), [C.PracticalStability(runs=2)])
    assert found.holds is holds, found.worst
    assert holds or "held there, " in found.worst
    held = Scenario(6.0, Hold("output", (0.05,)), offset={"y": -0.06})
    stays = abs(simulate(loop, held).array("y")[-1] - 0.05) < 1e-2
    assert bool(stays) is bool(holds)


@pytest.mark.parametrize("law", [CalledLatch, CalledGate, CalledRelay, CalledSign])
def test_a_branch_of_a_called_law_is_undecided_with_its_line(law):
    found = practical(law())
    assert found.holds is None
    assert "no run took the other side of `" in found.worst and "(line " in found.worst


def test_a_branch_in_what_a_law_calls_is_undecided():
    found = practical(Plain(function, references=("y_d",)))
    assert found.holds is None, found.worst
    assert "no run took the other side of `np.abs(np.array([e])).max() > 0.05`" in found.worst
    assert "__fluidproof_compared__" not in helper.__globals__


# ---- laws whose text compares nothing -----------------------------------------------------------------------------------
class Table(Called):
    """Gains looked up by a whole number."""

    def answer(self, e, y, r):
        return [10.0, 10.0, 10.0, -10.0][min(int(abs(y) * 10), 3)] * e


class Wrapped(Called):
    """An error that wraps round."""

    def answer(self, e, y, r):
        return 10 * ((e + 0.2) % 0.4 - 0.2)


class Fading(Called):
    """A gain that fades beyond a size."""

    def answer(self, e, y, r):
        return 10 * e * math.exp(-((y / 0.3) ** 8))


class Failing(Called):
    """A law that has no answer beyond a size."""

    def answer(self, e, y, r):
        return 10 * e * math.sqrt(0.3 - y)


class Interpolated(Called):
    """Gains that fall with the size, and bring it back from everywhere."""

    def answer(self, e, y, r):
        return float(np.interp(abs(y), [0.0, 0.2, 0.4], [10.0, 10.0, 6.0])) * e


class Rounded(Called):
    """A command in steps, of a measurement in steps, with limits."""

    def answer(self, e, y, r):
        return float(np.clip(round(20 * round(e, 5), 4), -2.0, 2.0))


@pytest.mark.parametrize("law", [Table, Wrapped, Fading])
def test_what_turns_without_a_comparison_is_undecided_with_its_place(law):
    found = practical(law(), plant=FALLS)
    assert found.holds is None, found.worst
    assert "no run came as far as y " in found.worst and "commands less" in found.worst


def test_a_law_that_fails_within_reach_is_undecided():
    found = practical(Failing())
    assert found.holds is None and "math domain error" in found.worst, found.worst


@pytest.mark.parametrize("law", [Interpolated, Rounded])
def test_what_only_becomes_weaker_holds(law):
    found = practical(law())
    assert found.holds is True, found.worst


def test_a_law_that_draws_by_chance_is_undecided():
    def law(t, y, r):
        import random

        return [10 * (r[0] - y[0]) * (0.0 if random.random() < 1e-9 else 1.0)]

    found = practical(Plain(law, references=("y_d",)))
    assert found.holds is None and "by chance" in found.worst


@pytest.mark.parametrize("law", [CalledLimits, CalledZones])
def test_called_laws_that_limit_or_come_back_hold(law):
    found = practical(law())
    assert found.holds is True, found.worst


class Median(Called):
    """A median of what it measured last: its memory has another length at first."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def answer(self, e, y, r):
        self.seen = [*self.seen, e][-3:]
        return 10 * sorted(self.seen)[len(self.seen) // 2] if abs(e) < 0.05 else -10 * e


def test_a_branch_is_gone_to_though_what_the_law_remembers_changes_its_shape():
    found = practical(Median())
    assert found.holds is None and "`abs(e) < 0.05`" in found.worst, found.worst


def test_no_start_lies_beyond_a_dead_point(monkeypatch):
    """A cylinder has a length inside its stroke there again, and the machine does not stand on the way."""
    from workbench.verification.practical.branches.untaken import _Search
    from workbench.verification.practical.starts import Start

    asked = []
    monkeypatch.setattr(
        untaken,
        "stands",
        lambda run, start: asked.append(start.amounts["q"]) or not 1 < asked[-1] < 3,
    )
    search = object.__new__(_Search)
    search.run = None
    assert not search._can_be(Start({"q": 3.85})) and max(asked) < 3.85 and min(asked) > 0


@pytest.mark.parametrize("end, seen", [(10.0, [1.1]), (1.05, [1.01]), (1.005, [])])
def test_a_branch_at_the_end_of_a_stroke_is_gone_to_just_beyond_its_edge(monkeypatch, end, seen):
    """The loop is started as far beyond an edge at q = 1 as the machine goes, and from there it runs away."""
    from workbench.verification.practical.branches.untaken import _Search
    from workbench.verification.practical.branches.ways import COMMANDS, Edge
    from workbench.verification.practical.disturbed import Outcome

    tried = []

    def ran_away(start):
        tried.append(start.amounts["q"])
        return Outcome(np.inf, 0.0, "gone", "gone", "", ())

    search = object.__new__(_Search)
    search.tried = ran_away
    monkeypatch.setattr(_Search, "_was_seen", lambda self, edge: False)
    monkeypatch.setattr(_Search, "_start", lambda self, move: untaken.Start({"q": float(move[0])}))
    monkeypatch.setattr(_Search, "_can_be", lambda self, start: start.amounts["q"] <= end)
    monkeypatch.setattr(_Search, "_kept_away", lambda self, edge, start, outcome: "it runs away")
    said = search.gone_to(Edge(0, np.array([1.0]), COMMANDS))
    assert tried == pytest.approx(seen) and bool(said) == bool(seen)
