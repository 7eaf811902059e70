"""One velocity of a valve circuit: damping, two ways compared over full speed, relations that are not met, verdicts."""

from math import inf, nan
from types import SimpleNamespace

import numpy as np
import pytest
from test_valve_circuits_passivity_by_hand import BOTH

from plants.valve_circuits import uniqueness
from plants.valve_circuits.passivity import Drawn
from plants.valve_circuits.uniqueness import check_unique


@pytest.mark.parametrize(
    "β, holds, margin",
    [
        (0.0, False, 0.0),
        (1e-300, True, 1e-300),
        (inf, False, 3.0),
        (nan, False, None),
        (-1.0, False, -1.0),
    ],
)
def test_damping_is_above_zero(β, holds, margin):
    """The smallest is told; one that is no number, or without end, is the worst."""
    (found,) = uniqueness._damped({"a": 3.0, "b": β})
    assert found.holds is holds and found.unit == "N*s/m"
    assert found.worst == "b" and found.margin == (inf if β == inf else margin)
    assert uniqueness._damped(None) == ()


def tried(monkeypatch, w, left):
    """`_tried` of two states of two sections that move at 0.2 and −0.3, by the other way at w, of which relations leave so much."""
    rows = np.zeros((2, 2, 9))
    rows[:, :, 0] = [0.5, 0.25]
    d = Drawn(rows, np.zeros((2, 3)), np.ones((2, 2)), np.zeros((2, 2)), np.array([0.1, 0.4]))
    monkeypatch.setattr(uniqueness, "drawn", lambda *given: d)
    monkeypatch.setattr(
        uniqueness,
        "resolve_all",
        lambda rows, supply, β, f, v, P: v.__setitem__(slice(None), [0.2, -0.3]),
    )
    speeds, leaves = iter(w), iter(left)
    monkeypatch.setattr(uniqueness, "nested", lambda *given: (1.0, np.array(next(speeds)), []))
    monkeypatch.setattr(uniqueness, "relations_left", lambda *given: next(leaves))
    return uniqueness._tried(None, 2, 0, False)


def test_two_ways_are_compared_over_full_speed(monkeypatch):
    """|w − v|/(|w| + v_0); what relations leave over A (|w| + v_0); the worse of both, each over what it may be, is told."""
    apart, left, words = tried(monkeypatch, [[0.2, -0.3], [0.2, -0.30014]], [1e-9, 2e-9])
    assert apart == pytest.approx(1.4e-4 / 0.70014)
    assert left == pytest.approx(2e-9 / (0.5 * 0.3 + 0.25 * 0.70014))
    assert words.startswith("two ways differ by 0.0002 of full speed at β = [1.0, 1.0]")
    apart, left, words = tried(monkeypatch, [[0.2, -0.3], [0.2, -0.3]], [3e-5, 2e-9])
    assert apart == 0.0 and left == pytest.approx(3e-5 / 0.325)
    assert words.startswith("oil balances are off by 9.2e-05 at β")
    apart, _, _ = tried(monkeypatch, [[0.2, nan], [0.2, -0.3]], [0.0, 0.0])
    assert apart == inf


@pytest.mark.parametrize(
    "apart, left, holds",
    [(1e-7, 1e-6, True), (1.1e-7, 0.0, False), (0.0, 1.1e-6, False), (nan, 0.0, False)],
)
def test_ways_that_differ_refute_what_is_computed(monkeypatch, apart, left, holds):
    asked = []
    monkeypatch.setattr(
        uniqueness, "_tried", lambda *given: asked.append(given) or (apart, left, "here")
    )
    found = check_unique(BOTH)
    assert asked == [(BOTH, 100, 0, False)] and (found.holds, found.counted) == (holds, True)
    assert found.strength == ("proof" if holds else "sampled") and found.key == "unique-velocity"
    assert holds or found.worst == "here"
    assert check_unique(BOTH, {"a": 1.0}, 7, 5, False, True).counted is False and asked[-1] == (
        BOTH,
        7,
        5,
        True,
    )


ROW = [0.5, 0.3, 8.0, 7.0, 2.0, 0.0, 0.7, 1.5, 0.4]


@pytest.mark.parametrize(
    "ho, ro, h, r, P, Q, worst",
    [
        (0.0, 0.0, 4.0, 3.0, 5.0, 3.0, 0.0),
        (0.2, 0.0, 4.0, 3.0, 5.0, 3.0, 0.2),
        (0.2, -0.3, 8.0, 0.0, 5.0, 3.0, 0.0),
        (-0.2, 0.4, 8.0, 0.0, 5.0, 3.0, 0.4),
        (-0.2, 0.1, 8.0, 7.0, 5.0, 3.0, 0.2),
        (0.0, -0.3, 4.0, 3.0, 5.0, 3.0, 0.3),
        (0.0, 0.0, 4.0, 3.0, 5.0, 3.5, 0.5),
        (0.0, 0.0, 4.0, 3.0, 9.0, 3.9, 0.0),
        (0.0, 0.0, 4.0, 3.0, 9.0, 2.9, 0.3),
        (0.0, 0.0, 4.0, 3.0, 5.0, 2.25, 0.75),
    ],
)
def test_relations_that_are_not_met(monkeypatch, ho, ro, h, r, P, Q, worst):
    """Out through a relief below its pressure, in through suction above none, and the pump's balance but at its relief."""
    flow = SimpleNamespace(Q_ho=ho, Q_ro=ro, Q_ph=2.5, Q_pr=-0.2)
    monkeypatch.setattr(uniqueness, "section_flows", lambda s, pressure: flow)
    k_b = 0.7 / np.sqrt(5.0) if P == 5.0 else 0.3
    found = uniqueness.relations_left([ROW], (Q, 9.0, k_b), [0.1], P, [(h, r)])
    taken = 2.3
    balance = Q - k_b * np.sqrt(P) - taken
    own = max(-balance, balance if P < 9.0 else 0.0, 0.0)
    limits = max(
        ho if h < 8.0 else 0.0,
        -ho if h > 0.0 else 0.0,
        ro if r < 7.0 else 0.0,
        -ro if r > 0.0 else 0.0,
    )
    assert found == pytest.approx(max(own, limits), abs=1e-12)
    assert found == pytest.approx(max(worst, own), abs=1e-12)
