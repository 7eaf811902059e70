"""Parts of PID tuning by themselves: limit cycles of known waves, the relay's switching, rules as they were published."""

from types import SimpleNamespace

import numpy as np
import pytest

from controllers.pid_tuning.oscillation import (
    CYCLES,
    fundamental,
    held_fundamental,
    limit_cycle,
)
from controllers.pid_tuning.record import _peaks
from controllers.pid_tuning.relay_law import Relay
from controllers.pid_tuning.rules import gains
from workbench.contract.errors import InputError
from workbench.contract.system import Signal
from workbench.verification.linear.systems import LinearSystem

T = 2e-3


def relay_run(counts, uppers=None, swings=None, before=5, after=3, offset=0.0):
    """A run whose cycles have so many samples, so many of them on the upper side; the error's peaks are ±swing about offset."""
    uppers = uppers or [n // 2 for n in counts]
    swings = swings or [1.0] * len(counts)
    side, e = [-1.0] * before, [offset] * before
    for n, up, swing in zip(counts, uppers, swings):
        side += [1.0] * up + [-1.0] * (n - up)
        e += list(offset + swing * np.sin(2 * np.pi * np.arange(n) / n))
    side += [1.0] * after
    e += [offset] * after
    side = np.array(side)
    return T * np.arange(len(side)), side, np.array(e), 0.3 * side + 0.1


def test_a_settled_cycle_is_measured():
    """Period, share of the upper side, the sine's own amplitude and mean over whole cycles."""
    found = limit_cycle(*relay_run([40] * 8, [18] * 8, [1.5] * 8, offset=0.25))
    assert found.settled and found.why == "" and not found.hopeless
    assert found.period == pytest.approx(40 * T) and found.share == pytest.approx(0.45)
    assert found.amplitude == pytest.approx(1.5, rel=1e-3) and found.mean == pytest.approx(0.25)
    assert len(found.cycles) == CYCLES == 6
    assert [c.begin for c in found.cycles] == pytest.approx([T * (5 + 40 * k) for k in range(2, 8)])
    assert all(c.period == pytest.approx(40 * T) for c in found.cycles)
    assert all(c.upper == pytest.approx(18 * T) for c in found.cycles)
    assert all(c.swing == pytest.approx(1.5, rel=1e-9) for c in found.cycles)
    # The error's sine from its own start has the phase −90°; the relay's square wave 4/π · 0.3 at most.
    assert np.angle(found.e_1) == pytest.approx(-np.pi / 2, abs=1e-2)
    assert abs(found.u_1) == pytest.approx(4 / np.pi * 0.3 * np.sin(np.pi * 0.45), rel=2e-3)


@pytest.mark.parametrize(
    "samples, upper, even",
    [
        (30, 15, True),
        (30, 14, True),  # two samples
        (30, 16, True),
        (30, 13, False),
        (30, 17, False),
        (200, 96, True),  # 4 % of the period
        (200, 104, True),
        (200, 94, False),  # 6 %
        (200, 106, False),
    ],
)
def test_halves_are_even_to_two_samples_or_a_twentieth_of_the_period(samples, upper, even):
    assert limit_cycle(*relay_run([samples] * 8, [upper] * 8)).symmetric is even


@pytest.mark.parametrize("cycles, settled", [(6, True), (5, False)])
def test_six_whole_cycles_are_needed(cycles, settled):
    found = limit_cycle(*relay_run([40] * cycles))
    assert found.settled is settled
    if not settled:
        assert f"switched {2 * cycles + 1} times in " in found.why and not found.hopeless


def test_a_relay_that_never_switches():
    t = T * np.arange(50)
    found = limit_cycle(t, np.ones(50), np.ones(50), np.ones(50))
    assert not found.settled and "never switched in 0.098 s" in found.why
    one = limit_cycle(t[:1], np.ones(1), np.ones(1), np.ones(1))
    assert not one.settled and "never switched" in one.why


@pytest.mark.parametrize("samples, enough", [(8, True), (7, False)])
def test_a_period_of_fewer_than_eight_samples_is_the_sampling(samples, enough):
    found = limit_cycle(*relay_run([samples] * 9))
    assert found.settled is enough
    if not enough:
        assert "a period has 7 samples" in found.why and not found.hopeless
        assert len(found.cycles) == 6
        # With the ends 1996 and 2003 samples: beyond 2000 a longer run is no use.
        assert limit_cycle(*relay_run([samples] * 284)).hopeless is False
        assert limit_cycle(*relay_run([samples] * 285)).hopeless is True


@pytest.mark.parametrize(
    "counts, settled",
    [
        ([300] * 7 + [306], True),  # two percent
        ([300] * 7 + [308], False),
        ([40] * 7 + [42], True),  # two samples of a short period
        ([40] * 7 + [43], False),
        ([80] + [40] * 6, True),  # only the last six count
    ],
)
def test_periods_alike(counts, settled):
    assert limit_cycle(*relay_run(counts)).settled is settled


@pytest.mark.parametrize(
    "swings, way",
    [
        ([1.0] * 7 + [1.01], None),
        ([1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7], "grows"),
        ([1.7, 1.6, 1.5, 1.4, 1.3, 1.2, 1.1, 1.0], "dies away"),
        ([1.0] * 7 + [1.2], "changes"),
    ],
)
def test_swings_alike(swings, way):
    found = limit_cycle(*relay_run([300] * 8, swings=swings))
    assert found.settled is (way is None) and not found.hopeless
    if way:
        assert f"the swing {way}, " in found.why and "the period is 0.6 … 0.6 s" in found.why
        assert f"{min(swings[2:]):.3g} … {max(swings[2:]):.3g}" in found.why


def test_after_three_hundred_cycles_it_will_not_settle():
    for n, hopeless in ((299, False), (300, True)):
        found = limit_cycle(*relay_run([10] * (n - 1) + [16], swings=[1.0] * (n - 1) + [5.0]))
        assert not found.settled and found.hopeless is hopeless


def test_fundamentals_of_known_waves():
    """c e^{jωt} of 3 cos(ωt + 0.4) and a drift; of a held staircase the exact integral over each sample."""
    n, k = 240, 6
    i = np.arange(n + 1)
    wave = 3 * np.cos(2 * np.pi * k * i / n + 0.4) + 0.5 + 0.01 * i
    assert fundamental(wave, k) == pytest.approx(3 * np.exp(0.4j), rel=1e-12)
    square = np.where(np.arange(n) % 40 < 20, 1.0, -1.0)
    assert held_fundamental(square, k) == pytest.approx(
        4 / np.pi * np.exp(-0.5j * np.pi), rel=1e-12
    )
    assert held_fundamental(0 * square + 7, k) == pytest.approx(0, abs=1e-12)


# ---- the relay -------------------------------------------------------------------------------------------------------------
class Base:
    """Two commands, two measurements."""

    measured = (Signal("a", "m"), Signal("b", "rad"))
    commands = (Signal("u", "V"), Signal("w", "V"))
    references = states = ()

    def initial(self):
        return [7.0]

    def start(self, t, z, y, r):
        return [z[0] + len(y)]

    def step_at(self, T_s, t, z, y, r):
        return [z[0] + 1], [y[0], y[1]]


@pytest.mark.parametrize(
    "b, was, side",
    [
        (0.7, -1.0, 1.0),  # error 0.3 above the hysteresis
        (0.8, -1.0, -1.0),  # at it: stays
        (0.8, 1.0, 1.0),
        (1.0, 1.0, 1.0),
        (1.2, 1.0, 1.0),
        (1.3, 1.0, -1.0),
    ],
)
def test_a_relay_switches_beyond_its_hysteresis(b, was, side):
    relay = Relay(Base(), Signal("b", "rad"), Signal("w", "V"), 2.0, 0.2, 0.5, 1.0)
    memory, u = relay.step_at(T, 0.0, [7.0, was], [5.0, b], [])
    assert memory == [8.0, side] and u == pytest.approx([5.0, b + 0.5 + 2.0 * side])
    assert relay.monitor(0.0, [7.0, was], [5.0, b], []) == pytest.approx([1.0 - b])
    assert relay.initial() == [7.0, 1.0] and relay.measured == Base.measured
    assert relay.start(0.0, [7.0, -1.0], [5.0, b], []) == [9.0, -1.0]
    other = Relay(Base(), Signal("c", "m"), Signal("u", "V"), 2.0)
    assert [s.name for s in other.measured] == ["a", "b", "c"]
    memory, u = other.step_at(T, 0.0, [7.0, was], [5.0, 6.0, 0.0], [])
    assert memory == [8.0, was] and u == pytest.approx([5.0 + 2.0 * was, 6.0])


# ---- rules ------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "rule, structure, K_p, T_i, T_d",
    [
        ("ziegler-nichols", "P", 0.5, np.inf, 0),
        ("ziegler-nichols", "PI", 0.45, 1 / 1.2, 0),
        ("ziegler-nichols", "PID", 0.6, 0.5, 0.125),
        ("tyreus-luyben", "PI", 1 / 3.2, 2.2, 0),
        ("tyreus-luyben", "PID", 1 / 2.2, 2.2, 1 / 6.3),
        ("astrom-hagglund", "PI", 0.22, 1.375, 0),
        ("astrom-hagglund", "PID", 0.3, 0.6, 0.15),
    ],
)
def test_rules_as_published(rule, structure, K_p, T_i, T_d):
    """Parallel gains K_p/T_i and K_p T_d, filter T_d/N."""
    K_u, T_u, N = 3.7, 0.23, 8.0
    found = gains(K_u, T_u, rule, structure, N)
    wanted = (K_p * K_u, K_p * K_u / (T_i * T_u), K_p * K_u * T_d * T_u, T_d * T_u / N)
    assert tuple(found) == pytest.approx(wanted)


def test_rules_that_there_are_not():
    for bad in ((0.0, 1.0), (1.0, 0.0), (-1.0, 1.0), (np.inf, 1.0), (1.0, np.inf), (np.nan, 1.0)):
        with pytest.raises(InputError, match="expected a number above 0"):
            gains(*bad)
    with pytest.raises(InputError, match="N: 0"):
        gains(1.0, 1.0, N=0.0)
    for rule, structure in (("tyreus-luyben", "P"), ("mine", "PI")):
        with pytest.raises(InputError, match="choose from"):
            gains(1.0, 1.0, rule, structure)


# ---- what is recorded --------------------------------------------------------------------------------------------------------
def test_peaks_and_bandwidth_of_a_second_order_loop():
    """L = ω²/(s(s + 2ζω)): M_t = 1/(2ζ√(1 − ζ²)), bandwidth ω √(1 − 2ζ² + √(1 + (1 − 2ζ²)²)), M_s by its own formula."""
    ζ, ω = 0.3, 12.0
    L = LinearSystem([[0, 1], [0, -2 * ζ * ω]], [[0], [1]], [[ω**2, 0]], [[0]])
    M_s, M_t, bandwidth = _peaks(L)
    assert M_t == pytest.approx(1 / (2 * ζ * np.sqrt(1 - ζ**2)))
    k = 1 - 2 * ζ**2
    assert bandwidth == pytest.approx(ω * np.sqrt(k + np.sqrt(1 + k * k)))
    x = np.linspace(0, 4, 400001)  # (ω'/ω)²
    assert M_s == pytest.approx(
        np.sqrt((x * x + 4 * ζ**2 * x) / ((1 - x) ** 2 + 4 * ζ**2 * x)).max()
    )
    slow = LinearSystem([[-1.0]], [[0.1]], [[1.0]], [[0.0]])  # |T| < 1/√2 everywhere
    assert _peaks(slow)[2] == 0.0


def test_the_signal_of_a_relay_is_in_the_outputs_unit():
    relay = Relay(Base(), Signal("b", "rad"), Signal("w", "V"), 2.0)
    (monitor,) = relay.monitors
    assert (monitor.name, monitor.unit) == ("e_relay", "rad")
    assert relay.commands == Base.commands and [s.name for s in relay.states] == ["relay"]
    assert SimpleNamespace(**vars(relay)).bias == 0.0 and relay.ε == 0.0 and relay.y_0 == 0.0
