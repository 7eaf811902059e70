"""Samples and steps of the penalty method's loop: instants, rows of the log and powers, on a stepper that is written down."""

from types import SimpleNamespace

import numpy as np
import pytest

from plants.multibody.penalty import loop as penalty_loop
from plants.multibody.penalty.loop import PenaltyLoop
from workbench.contract.errors import InputError


class Told(PenaltyLoop):
    """One state and one power; every step adds to the state what its input is."""

    def __init__(self, failing=None):
        self.asked = []
        self.row = 3
        self.failing = failing
        mark = lambda name: lambda t, x, w, c: self.asked.append((name, round(t, 9))) or x
        self.traced = SimpleNamespace(n_states=2, jump=mark("jump"), release=mark("release"))

    def _row(self, t, state, w, c):
        return np.array([t, state[0], w[0]])

    def _advance(self, t, many, h, state, w, inputs, c, told=None):
        self.asked.append((many, round(t, 9), h, inputs[:, 0].tolist()))
        if told is not None:
            told[:] = t
        state[0] += many
        return self.failing != len(self.asked)


W = np.array([[10.0], [20.0], [30.0]])


def run(own, *, every=0, jumping=True, n1=0, rows=None, F=None, n=2, first=3):
    state = np.array([1.0, 2.0, 0.0])
    done = own.run(first, n, every, jumping, 0.5, n1, 0.1, 3, 0.2, state, W, F, None, rows)
    return done, state


def test_samples_begin_at_their_instants_with_their_own_inputs():
    own = Told()
    done, state = run(own)
    assert done == 2 and state[0] == 7.0
    assert own.asked == [
        ("jump", 1.5), (3, 1.5, 0.2, [10.0] * 3), ("jump", 2.0), (3, 2.0, 0.2, [20.0] * 3),
    ]  # fmt: skip


def test_a_release_comes_after_the_first_steps():
    own = Told()
    F = np.arange(10.0)[:, None]
    run(own, n1=2, F=F, jumping=False)
    assert own.asked == [
        (2, 1.5, 0.1, [0.0, 1.0]), ("release", 1.7), (3, 1.7, 0.2, [2.0, 3.0, 4.0]),
        (2, 2.0, 0.1, [5.0, 6.0]), ("release", 2.2), (3, 2.2, 0.2, [7.0, 8.0, 9.0]),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "every, instants",
    [(1, [1.5, 2.0, 2.5]), (2, [2.0, np.nan, np.nan]), (3, [1.5, np.nan, np.nan])],
)
def test_rows_of_the_log_are_every_so_many_samples(every, instants):
    rows = np.full((3, 3), np.nan)
    run(Told(), every=every, rows=rows, n=3)
    assert rows[:, 0] == pytest.approx(instants, nan_ok=True)


def test_samples_are_counted_from_the_first_of_the_run():
    rows = np.full((3, 3), np.nan)
    run(Told(), every=3, rows=rows, n=3, first=4)
    assert rows[:, 0] == pytest.approx([3.0, np.nan, np.nan], nan_ok=True)


def test_rows_of_every_step_are_those_that_were_reached():
    """Sample after sample, so many steps each; what was not reached is not a number."""
    rows = np.zeros(5 * 3 * 3)
    done, state = run(Told(failing=4), rows=rows, n=3)
    found = rows.reshape(-1, 3)[:, 0]
    assert done == 2 and np.isnan(state[:2]).all()
    assert found[:6].tolist() == [1.5] * 3 + [2.0] * 3 and np.isnan(found[6:9]).all()
    assert (found[9:] == 0.0).all()


def test_a_state_that_is_no_number_ends_it():
    own = Told()
    own.traced.jump = lambda t, x, w, c: [np.nan, 1.0] if t > 1.9 else x
    assert run(own)[0] == 1


# ---- steps ---------------------------------------------------------------------------------------------------------------------
@pytest.fixture
def loop(monkeypatch):
    """Two moving states and one of the law; commands 10 w; the flow is (x, 7, the power x₀)."""
    own = object.__new__(PenaltyLoop)
    own.asked = asked = []
    own.n, own.mechanism, own.settings, own.constants, own.command_numbers = (
        2,
        "rig",
        "set",
        "c",
        None,
    )
    own.traced = SimpleNamespace(n_states=3, flow=lambda t, x, w, c: [x[0], x[1], 7.0, x[0] * w[0]])
    own.command = lambda t, x, v, c: [10.0 * v[0]]

    def stepped(start, U, h, settings, constants):
        asked.append((start, U.ravel().tolist(), h))
        return [[0.0, 0.0], [1.0, 5.0], [3.0, 6.0]], None, own.made

    own.made = 3
    restarted = lambda start, rates: ("again", start, rates.tolist())
    own.stepper = SimpleNamespace(run=stepped, state=lambda row: row, restarted=restarted)
    monkeypatch.setattr(
        penalty_loop, "consistent", lambda rig, x, u: ("anew", x.tolist(), u.tolist())
    )
    own._row = lambda t, state, w, c: np.array([t, state[0], w[0]])
    own.kept = (np.zeros(0), np.zeros(0), "left")
    return own


def advance(own, told=None):
    state = np.array([2.0, 4.0, 9.0, 100.0])
    inputs = np.array([[0.5], [0.25]])
    done = own._advance(1.0, 2, 0.1, state, np.array([0.75]), inputs, None, told)
    return done, state


def test_steps_begin_anew_where_the_state_is_another(loop):
    """Powers by the trapezoidal rule, each with the inputs of its own step."""
    told = np.zeros((2, 3))
    done, state = advance(loop, told)
    assert done is True and loop.asked == [(("anew", [2.0, 4.0], [7.5]), [7.5, 5.0, 2.5], 0.1)]
    assert state[:3].tolist() == [3.0, 6.0, 9.0]
    powers = [2.0 * 0.75, 1.0 * 0.5, 3.0 * 0.25]
    assert state[3] == pytest.approx(100 + 0.05 * (powers[0] + 2 * powers[1] + powers[2]))
    assert told.tolist() == [[1.0, 2.0, 0.75], [1.1, 1.0, 0.5]]
    assert (
        loop.kept[0].tolist() == [3.0, 6.0] and loop.kept[1] == [2.5] and loop.kept[2] == [3.0, 6.0]
    )


@pytest.mark.parametrize("u, start", [([7.5], "left"), ([7.0], ("again", "left", [2.0, 4.0]))])
def test_steps_go_on_from_where_the_last_ones_ended(loop, u, start):
    """As they were left where the command is the same; restarted with other rates where it is another."""
    loop.kept = (np.array([2.0, 4.0]), np.array(u), "left")
    advance(loop)
    assert loop.asked[0][0] == start


@pytest.mark.parametrize("made, done", [(2, False), (3, True)])
def test_steps_that_are_not_all_made_end_the_run(loop, made, done):
    loop.made = made
    assert advance(loop)[0] is done


def test_steps_take_all_their_inputs():
    """Of two inputs a step each: rows of both, where only the first is told here."""
    own = Told()
    W2 = np.column_stack([W, W + 1])
    F = np.arange(12.0).reshape(6, 2)
    state = np.array([1.0, 2.0, 0.0])
    own.run(3, 2, 0, False, 0.5, 0, 0.1, 3, 0.2, state, W2, F, None, None)
    assert [asked[3] for asked in own.asked] == [[0.0, 2.0, 4.0], [6.0, 8.0, 10.0]]


@pytest.mark.parametrize(
    "moving, alone, period, fits",
    [
        (5, True, None, True),
        (6, True, None, False),
        (4, True, None, True),
        (5, False, 0.01, True),
        (5, False, None, False),
    ],
)
def test_commands_are_held_or_the_method_refuses(monkeypatch, moving, alone, period, fits):
    """Nothing moves but the plant's five states; a law around it is sampled."""
    monkeypatch.setattr(penalty_loop, "stepper", lambda m, compiled: ("stepper", "numbers"))
    monkeypatch.setattr(
        penalty_loop,
        "trace",
        lambda text, live: SimpleNamespace(flow="flow", constants=lambda t: "c"),
    )
    plant = SimpleNamespace(states=tuple("abcde"), period=None)
    plant.plant = plant
    system = plant if alone else SimpleNamespace(plant=plant, period=period)
    log = SimpleNamespace(size1_out=lambda k: 7)
    traced = SimpleNamespace(n_moving=moving, n_states=6, n_powers=3, log=log, live=())
    if not fits:
        with pytest.raises(InputError, match="the penalty method takes commands that are held"):
            PenaltyLoop(system, traced)
        return
    own = PenaltyLoop(system, traced)
    assert (own.n, own.row, own.stepper, own.constants) == (5, 16, "stepper", "numbers")
    assert (own.command, own.command_numbers) == ("flow", "c")
