"""Numbers that a law counts, clocks that it reads, where a loop with limits rests, samples with delay: small cases by hand."""

import datetime
import time
import types
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.linalg import expm

from workbench.contract.errors import InputError
from workbench.verification.linear import sampled_data
from workbench.verification.linear.called_law import Memory
from workbench.verification.linear.limited import Limited
from workbench.verification.practical.called import reach as called_reach
from workbench.verification.practical.later import clock as called_clock


# ---- numbers that a law counts ------------------------------------------------------------------------------------------------
def remembered(*values):
    return Memory([values[0]], (SimpleNamespace(), list(values[1:])))


def test_every_number_of_a_memory_is_read_and_set():
    memory = remembered(1.5, 7, 0.25, [2, 3.5])
    assert called_clock.counted(memory) == [1.5, 7, 0.25, 2, 3.5]
    other = called_clock.set_on(memory, [2.5, 8.6, 0.75, -1.4, 9.0])
    assert called_clock.counted(other) == [2.5, 9, 0.75, -1, 9.0]
    assert type(called_clock.counted(other)[1]) is int
    assert called_clock.counted(memory) == [1.5, 7, 0.25, 2, 3.5]


def test_a_measurement_is_off_by_a_thousandth_of_what_it_covered_or_of_its_size():
    asked = SimpleNamespace(y=np.array([[1.0, 30.0, 0.0], [5.0, 30.0, 0.0], [3.0, 30.5, 0.0]]))
    assert called_clock._off(asked, 1) == pytest.approx([5e-3, 30e-3, 1e-6])
    assert called_clock._off(asked, 0) == pytest.approx([4e-3, 30e-3, 1e-6])


def counting(step):
    """A law at rows 0, 10 and 40 whose memory is told, and what a step makes of it."""
    asked = SimpleNamespace(y=np.array([[2.0]] * 41), time=np.linspace(0.0, 4.0, 41), step=step)
    seen = {
        row: remembered(0.5 * row + 1.0, 3 * row, 0.25, float(row * row)) for row in (0, 10, 40)
    }
    return asked, seen


def test_numbers_that_run_on_whatever_is_measured():
    """0.5 a sample and 3 a sample; not what stands, is no line, or depends on what was measured."""

    def step(memory, y, row, t):
        values = called_clock.counted(memory)
        moved = [values[0] + 0.5, values[1] + 3, values[2], values[3] + 1.0]
        return called_clock.set_on(memory, moved), None

    assert called_clock._ticks(*counting(step)) == {0: pytest.approx(0.5), 1: pytest.approx(3.0)}

    def feels(memory, y, row, t):
        values = called_clock.counted(memory)
        return called_clock.set_on(memory, [values[0] + y[0], values[1] + 3, *values[2:]]), None

    assert set(called_clock._ticks(*counting(feels))) == {1}
    asked, seen = counting(step)
    assert called_clock._ticks(asked, dict(list(seen.items())[:2])) == {}
    assert called_clock._ticks(asked, seen | {40: remembered(1.0, 2)}) == {}


def test_what_a_law_answers_goes_with_its_clocks():
    """At t the counters are samples on from the row's; the second half is the gain of a measurement that is off."""
    calls = []

    def step(memory, y, row, t):
        calls.append((called_clock.counted(memory), row, t))
        return memory, np.array([10 * y[0] + called_clock.counted(memory)[1]])

    asked = SimpleNamespace(
        y=np.array([[2.0], [6.0]]),
        time=np.array([0.0, 0.1]),
        loop=SimpleNamespace(period=0.1),
        step=step,
    )
    answer = called_clock._Answer(asked, remembered(0.5, 7, 3.25), 1, {1: 3.0})
    found = answer(0.6)
    assert found == pytest.approx([60 + 7 + 15, 10 * 6e-3])
    assert calls[0] == ([0.5, 22, 3.25], 1, 0.6)


def inner(t):
    return time.time() + t


def outer(t, y, r):
    return [inner(t)]


def plain(t, y, r):
    return [2.0 * t]


def test_functions_that_a_law_names_and_the_clock_that_one_of_them_reads():
    found = called_reach.functions_of(outer)
    assert found == [outer, inner]
    assert called_clock._read_module(inner, called_clock.CLOCKS) == "the module time"
    assert (
        called_clock._read_module(outer, called_clock.CLOCKS)
        == ""
        == called_clock._read_module(plain, called_clock.CLOCKS)
    )
    now = datetime.datetime
    reads = lambda t, y, r: [now.now().second]
    assert called_clock._read_module(reads, called_clock.CLOCKS) == "datetime.now"


def imports(t, y, r):
    import datetime as calendar

    return [calendar.datetime.now().hour]


def opened(t, y, r):
    return [float(open("gain.txt").read())]


def read(t, y, r):
    return [float(Path("gain.txt").read_text())]


def loaded(t, y, r):
    return [np.loadtxt("gain.txt")]


def test_a_clock_that_is_imported_where_it_is_read_and_a_file():
    """What others write there is another law later; a function of the user's own that is called so is none."""
    assert called_clock._read_module(imports, called_clock.CLOCKS) == "the module datetime"
    assert called_clock._read_file(opened) == "open()"
    assert called_clock._read_file(read) == "read_text()"
    assert called_clock._read_file(loaded) == "loadtxt()"
    assert called_clock._read_file(plain) == called_clock._read_file(imports) == ""
    spread = types.FunctionType(opened.__code__, {"open": plain})
    assert called_clock._read_file(spread) == ""


# ---- a loop with limits -------------------------------------------------------------------------------------------------------
def loop(**changes):
    given = {
        "M": np.array([[0.5, 0.1], [0.0, 0.8]]),
        "E": np.array([[1.0], [0.4]]),
        "K": np.array([[2.0, -1.0]]),
        "o": np.array([0.3, 0.4]),
        "w": np.array([0.2]),
        "low": np.array([-3.0]),
        "high": np.array([2.5]),
        "enter": None,
        "command": None,
        "states": ("x", "y"),
        "start": np.zeros(2),
        "T": 0.1,
    }
    return Limited(**(given | changes))


def test_where_a_loop_with_limits_rests_and_how_much_room_it_has():
    """Sampled: (1 − M) x = o, x = (1, 2); continuous: −M x = o. Room to the nearer limit, one at a time."""
    x, room = loop().rest()
    assert x == pytest.approx([1.0, 2.0]) and room == pytest.approx([2.3])
    _, room = loop(low=np.array([-0.1])).rest()
    assert room == pytest.approx([0.3])
    x, _ = loop(T=None).rest()
    assert x == pytest.approx([-0.5, -0.5])
    with pytest.raises(InputError, match="at its limit already"):
        loop(high=np.array([0.19])).rest()
    turning = loop(M=np.array([[1.0, 0.0], [0.0, 0.8]]))
    with pytest.raises(InputError, match="does not come to rest"):
        turning.rest()
    assert loop(M=turning.M, o=np.array([0.0, 0.4])).rest()[0] == pytest.approx([0.0, 2.0])


@pytest.mark.parametrize("x, ψ", [((1.0, 2.0), 0.0), ((2.0, 1.0), 0.7), ((-2.0, 1.0), -1.8)])
def test_a_step_takes_off_what_is_beyond_a_limit(x, ψ):
    """v = 2x − y + 0.2 within −3 … 2.5."""
    found = loop().next(np.array(x))
    linear = [0.5 * x[0] + 0.1 * x[1] + 0.3, 0.8 * x[1] + 0.4]
    assert found == pytest.approx([linear[0] - ψ, linear[1] - 0.4 * ψ])
    said = loop(beyond=("u",), constant=("z",)).assumptions()
    assert [(a.holds, a.text.split()[0]) for a in said] == [(None, "of"), (True, "z")]


# ---- samples with delay -------------------------------------------------------------------------------------------------------
A, B = np.array([[-1.0, 2.0], [0.5, -3.0]]), np.array([[0.7, -0.2], [-0.4, 0.9]])
C, D = np.array([[1.0, -0.5]]), np.array([[0.3, 0.8]])


@pytest.mark.parametrize("delays", [(0.0, 0.0), (0.03, 0.2), (0.25, 0.1)])
def test_a_sampled_plant_follows_a_queue_for_every_input(delays):
    """ẋ = A x + B u(t − τ), each input with its own delay; y takes the command that acts at the sample itself."""
    T = 0.1
    rng = np.random.default_rng(3)
    plant = sampled_data.sampled(A, B, C, D, T, delays)
    u = rng.normal(size=(9, 2))
    state, x = np.zeros(len(plant.A)), np.zeros(2)
    edges = sorted({0.0, T, *(τ % T if τ % T < T - 1e-12 else 0.0 for τ in delays)})
    command = lambda k, j: u[k, j] if k >= 0 else 0.0

    def at(t, k):
        """Commands that act just after t in sample k."""
        back = [int(np.floor((t - τ) / T + 1e-9)) for τ in delays]
        return np.array([command(k + b, j) for j, b in enumerate(back)])

    for k in range(9):
        y = plant.C @ state + plant.D @ u[k]
        assert y == pytest.approx(C @ x + D @ at(0.0, k), abs=1e-12)
        state = plant.A @ state + plant.B @ u[k]
        for begin, end in zip(edges, edges[1:]):
            both = np.block([[A, B], [np.zeros((2, 4))]])
            x = (expm(both * (end - begin)) @ np.r_[x, at(begin, k)])[:2]
        assert state[:2] == pytest.approx(x, abs=1e-12)


def test_delays_that_are_refused_and_brackets_of_the_first_failure():
    for wrong in (-0.1, np.inf, (0.1, 0.2, 0.3), 500.0):
        with pytest.raises(InputError, match="delay"):
            sampled_data.sampled(A, B, C, D, 0.1, wrong)
    sampled_data.sampled(np.zeros((1, 1)), [[1.0]], [[1.0]], [[0.0]], 1.0, 50.0)
    one = lambda v: SimpleNamespace(A=np.array([[v]]), T=1.0)
    good, bad = sampled_data.stable_up_to(one, (0.2, 0.9, 1.3, 0.1))
    assert good < 1.0 <= bad and bad - good <= 1e-6 * bad
    assert sampled_data.stable_up_to(one, (0.2, 0.9)) == (0.9, None)
    assert sampled_data.stable_up_to(one, (1.2, 0.9)) == (None, 1.2)
    assert sampled_data.whole_and_rest(0.3, 0.1) == (3, 0.0)
    assert sampled_data.whole_and_rest(0.34, 0.1) == (3, pytest.approx(0.04))
