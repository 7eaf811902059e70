"""Where the command of a called law falls back, grows or fails along a move, from commands whose course is known."""

import numpy as np
import pytest
from test_edges_by_hand import Law, a_run, machine

from workbench.contract.machine_limits import Limit
from workbench.verification.practical.branches import turns as module
from workbench.verification.practical.branches.turns import MOST, _between, _Turn, turns

SHARES = np.array([0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0])
FREE = np.ones(len(SHARES), bool)
LESS = "the law commands less, or the other way"
GROWS = "the law has far larger gains"


def turn(U, least=0.0):
    return _Turn(np.array(U, float), SHARES, least)


def changed(k, value, gain=3.0):
    """U = gain·s, but for the value at one place."""
    U = gain * SHARES
    U[k] = value
    return U


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(
    "k, value, told",
    [
        (5, 0.25, ""),  # before: 0.3, of which 0.24 are kept
        (5, 0.23, LESS),
        (5, -5.0, LESS),
        (5, 1.22, ""),  # at first 3 a share: 2.05 times that is 1.23 at 0.2
        (5, 1.24, GROWS),
        (4, 0.0, LESS),
        (6, np.nan, "the law fails"),
        (2, np.nan, "the law fails"),  # a failure counts from the first share on
        (7, 2.0, ""),
        (7, 6.2, GROWS),
        (7, 1.1, LESS),
    ],
)
def test_a_command_falls_back_grows_or_fails(k, value, told, sign):
    found = turn(changed(k, sign * value, 3.0 * sign))
    assert found.begin == 1 and found.side == sign and found.gain == pytest.approx(3.0)
    assert found.first(FREE) == (k if told else 0)
    if told:
        assert found.change(k) == told


def test_it_falls_back_of_the_largest_that_was_nearer_by():
    """0.3 at 0.1, then 0.5 and 0.45, which is 0.9 of it; 0.35 is 0.7 of the largest, and more than what came first."""
    assert turn([0, 0.03, 0.06, 0.15, 0.3, 0.5, 0.45, 0.45]).first(FREE) == 0
    assert turn([0, 0.03, 0.06, 0.15, 0.3, 0.5, 0.45, 0.35]).first(FREE) == 7


def test_small_commands_turn_as_large_ones():
    U = 0.01 * changed(5, 1.24)
    assert turn(U).first(FREE) == 5 and turn(U).change(5) == GROWS
    assert turn([0.0, np.nan, *SHARES[2:]]).first(FREE) == 1


def test_a_limited_command_and_one_that_never_moves_do_not_turn():
    assert turn(np.minimum(3.0 * SHARES, 0.16)).first(FREE) == 0
    still = turn(0.0 * SHARES)
    assert (still.begin, still.side, still.gain) == (8, 1.0, 0.0) and still.first(FREE) == 0
    assert turn(changed(3, np.nan, 0.0)).first(FREE) == 3


def test_the_first_three_commands_beyond_a_dead_band_say_what_the_gain_is():
    """Nothing until 0.05, and then 4, 6 and 5 times the share; the place after them is the first that may be odd."""
    U = [0, 1e-4, -1e-4, 0.2, 0.6, 1.0, 6.1, 0.0]
    found = turn(U, 1e-3)
    assert found.begin == 3 and found.gain == pytest.approx(6.0)
    assert found.first(FREE) == 7, "at 0.5 up to 6.15"
    U[6] = 6.2
    assert turn(U, 1e-3).first(FREE) == 6
    U[5] = 0.0
    assert turn(U, 1e-3).first(FREE) == 6, "one of the first three"
    assert turn([0, 0.2, 0.1, 0.3, 0.4, 0.5, 1, 2], 0.2).begin == 3, "beyond `least` itself"


def test_a_turn_counts_where_the_machine_may_be():
    free = FREE.copy()
    free[5] = False
    U = changed(5, -1.0)
    assert turn(U).first(free) == 0
    U[7] = 0.1
    assert turn(U).first(free) == 7
    assert turn(changed(0, np.nan)).first(FREE) == 0, "what it commands at the start is no turn"


# ---- of a law ----------------------------------------------------------------------------------------------------------
def asking(*commands):
    """A law called from Python whose commands are these functions of (a, b)."""
    none = lambda a, b, z: np.zeros((0, *a.shape))
    return Law(none, lambda a, b, z: [f(a, b) for f in commands])


def found(monkeypatch, law, *moves, run=None):
    monkeypatch.setattr(module, "of_plant", lambda run, spread, width: np.array(moves, float))
    return turns(run or a_run([0.1, 9.0], [-1.0, 9.0]), 0.02, law)


RIGHT, LEFT, UP, DOWN = (2.0, 0, 0), (-2.0, 0, 0), (0, 30.0, 0), (0, -30.0, 0)


def folded(at, gain=5.0):
    """Up to `at` (of a) proportional to what it is off, then the other way; 7 at the start a = 0.1."""
    return lambda a, b: 7.0 + gain * np.where(a < at, a - 0.1, -1.0)


def test_the_place_where_a_command_turns(monkeypatch):
    """a is 0.8 off where the command falls to the other side, from the first row; said of the plant's states alone."""
    law = asking(folded(0.9))
    (edge,) = found(monkeypatch, law, RIGHT, LEFT, UP)
    assert law.asked == {0}
    assert edge.move == pytest.approx([0.8, 0.0], abs=1e-5)
    assert (edge.switch, edge.change) == (None, LESS)
    assert not found(monkeypatch, asking(folded(2.2)), RIGHT), "beyond the move"
    small = lambda a, b: 1e-5 * folded(0.9)(a, b)
    assert found(monkeypatch, asking(small), RIGHT)[0].move == pytest.approx(edge.move)
    assert not found(monkeypatch, asking(lambda a, b: 7 + 5 * a - 2 * b), RIGHT, LEFT, UP)


def test_each_move_is_told_once_the_nearest_first_of_any_command(monkeypatch):
    """Of b at 0.2 of the way, of a at 0.4: two commands turn there, and a third to the left at 0.9."""
    second = lambda a, b: np.where((b > 5.0) | (a > 0.9), -3.0, b + a)
    third = lambda a, b: np.where(a < -1.7, np.nan, a)
    law = asking(lambda a, b: 0 * a, second, third, folded(0.9))
    run = a_run([0.1], [-1.0])
    edges = found(monkeypatch, law, RIGHT, LEFT, UP, run=run)
    places = np.array([[0.0, 6.0], [0.8, 0.0], [-1.8, 0.0]])
    assert np.array([e.move for e in edges]) == pytest.approx(places, abs=1e-4)
    assert [e.change for e in edges] == [LESS, LESS, "the law fails"]


def test_the_nearest_six_are_told(monkeypatch):
    moves = [(k, 0, 0) for k in range(2, 12)]
    edges = found(monkeypatch, asking(folded(0.9)), *moves)
    assert MOST == 6 and len(edges) == 6
    assert [e.move[0] for e in edges] == pytest.approx([0.8] * 6, abs=1e-4)
    shares = [round(0.8 / e.move[0], 3) for e in edges]
    assert shares == [1.0] * 6


def test_what_hardly_commands_anything_has_no_gain(monkeypatch):
    """Below a thousandth of the largest command, 7: 0.006 and back is nothing, 0.01 is something."""
    bump = lambda height: lambda a, b: 7.0 + height * ((a > 0.1) & (a < 0.9))
    assert not found(monkeypatch, asking(bump(0.006)), RIGHT)
    assert found(monkeypatch, asking(bump(0.01)), RIGHT)
    assert found(monkeypatch, asking(lambda a, b: bump(0.006)(a, b) - 7.0), RIGHT)


def test_no_turn_beyond_a_limit(monkeypatch):
    for end, count in ((0.8, 0), (2.5, 1)):
        plant = machine((Limit("stroke", ("a",), -5.0, end),))
        run = a_run([0.1], [-1.0], plant)
        assert len(found(monkeypatch, asking(folded(0.9)), RIGHT, run=run)) == count


@pytest.mark.parametrize("j, at", [(0, 0.9), (1, 1.3)])
def test_a_turn_is_looked_for_between_two_places(j, at):
    """Fifteen points five times: within 0.3/16⁵ of a share."""
    law = asking(folded(0.9), folded(1.3, -2.0))
    shares = np.array([0.0, 0.1, 0.2, 0.3, 0.35, 0.65])
    origin, move = np.array([0.1, -1.0, 2.0]), np.array(RIGHT)
    U = np.array([law.ask(None, 0, origin[:, None] + move[:, None] * s)[2][j, 0] for s in shares])
    one = _Turn(U - U[0], shares, 0.0)
    share = _between(a_run(), law, origin, move, j, one, 5)
    exact = (at - 0.1) / 2.0
    assert exact <= share < exact + 0.3 / 16**5 + 1e-12
