"""What swings in a settled run: waves of known size on hand-made logs, and each number that is told of them."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.signal import savgol_coeffs, savgol_filter

from workbench.contract.system import Signal
from workbench.run.log import Log, Status
from workbench.run.reference import Hold, Sine, Waypoints
from workbench.verification.observed import chatter, commanded
from workbench.verification.observed import oscillation as osc

STEP = 2e-3
TIME = np.arange(0.0, 8.0, STEP)


def wave(amplitude, frequency, phase=0.0):
    return amplitude * np.sin(2 * np.pi * frequency * TIME + phase)


def ran(ranges=None, units=None, cylinders=(), reference=None, disturbances=None, **columns):
    """A run of eight seconds with these columns: commands u…, everything else a joint's position."""
    units = units or {}
    names = list(columns)
    signals = tuple(Signal(n, units.get(n, "V" if n.startswith("u") else "rad")) for n in names)
    log = Log(
        TIME,
        np.column_stack([np.broadcast_to(columns[n], TIME.shape) for n in names]),
        signals,
        {},
        Status(True, "completed", 8.0),
    )
    joints = tuple(n for n in names if not n.startswith("u"))
    plant = SimpleNamespace(
        limits=lambda: ranges or {},
        joint_names=joints,
        cylinders=cylinders,
        has_tool=True,
        inputs=tuple(s for s in signals if s.name.startswith("u")),
        states=tuple(s for s in signals if not s.name.startswith("u")),
        outputs=(),
        monitors=(),
        scales=dict,
    )
    commands = tuple(s for s in signals if s.name.startswith("u"))
    run = SimpleNamespace(
        log=log,
        loop=SimpleNamespace(plant=plant, controller=SimpleNamespace(commands=commands)),
        demand=SimpleNamespace(reference=None, wanted=()),
        scenario=SimpleNamespace(reference=reference, disturbances=disturbances or {}),
    )
    run.fine = run
    return run


# ---- commands -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("step", [2e-3, 0.011, 0.03, 0.2])
def test_smoothing_is_that_of_savitzky_and_golay(step):
    """A cubic over a quarter of a second around every sample, five samples at least; SciPy's filter, ends and all."""
    n = {2e-3: 125, 0.011: 23, 0.03: 9, 0.2: 5}[step]
    t = step * np.arange(400)
    u = np.sin(3 * t) + 0.2 * np.cos(70 * t) + t
    np.testing.assert_allclose(chatter.smoothed(u, step), savgol_filter(u, n, 3), atol=1e-10)
    cubic = 0.3 - 0.7 * t + 0.2 * t**2 - 0.01 * t**3
    np.testing.assert_allclose(chatter.smoothed(cubic, step), cubic, atol=1e-8)


def test_a_record_shorter_than_the_window_is_left_alone():
    u = np.random.default_rng(1).normal(size=124)
    assert chatter.smoothed(u, 2e-3) is u
    assert len(chatter.smoothed(np.append(u, 0.3), 2e-3)) == 125


def test_the_range_a_command_uses():
    """Half of what its smooth part goes through; at least a tenth of half the range it may have."""
    slow = wave(3.0, 0.5)
    assert chatter.range_used(slow, -np.inf, np.inf) == pytest.approx(3.0, rel=1e-4)
    assert chatter.range_used(slow, -10.0, 10.0) == pytest.approx(3.0, rel=1e-4)
    assert chatter.range_used(0.1 * slow, -10.0, 14.0) == pytest.approx(1.2)
    assert chatter.range_used(0 * slow, -10.0, 10.0) == pytest.approx(1.0)


def test_ranges_are_the_plants_own():
    run = ran({"u_1": (-10.0, 8.0)}, u_1=0.0, u_2=0.0)
    assert chatter.ranges_of_commands(run) == {"u_1": (-10.0, 8.0), "u_2": (-np.inf, np.inf)}


def left(frequency):
    """What the filter of 125 samples leaves of a wave for the fast part: 1 − Σ c_k cos(2πf k h)."""
    k = np.arange(-62, 63)
    return 1 - float(savgol_coeffs(125, 3) @ np.cos(2 * np.pi * frequency * STEP * k))


@pytest.mark.parametrize("share, found", [(0.2, None), (0.28, None), (0.29, 40.0), (0.6, 40.0)])
def test_chatter_by_its_size_frequency_and_unit(share, found):
    """A wave of 0.2 is 0.1414 rms; of 2 V used that is 0.0707: 5 % of what is used are 0.1 V rms, an amplitude of 0.1414."""
    amplitude = share / 2
    u = wave(2.0, 0.25) + wave(amplitude, 40.0, 0.3)
    seen = osc.oscillation(ran(u_1=u, q_1=0.0), 1e-3, 0.05)
    if found is None:
        assert seen is None
        return
    name, kind, frequency, size, unit = seen
    assert (name, kind, unit) == ("u_1", "chatter", "V")
    assert frequency == pytest.approx(40.0, abs=0.26)  # lines are 1/4 Hz apart
    assert size == pytest.approx(
        amplitude * left(40.0), rel=1e-2
    )  # the ends of the record are smoothed otherwise


def test_the_worst_of_several_commands_by_the_share_of_what_it_uses():
    """u_2 chatters less in volts, and more beside what it moves; u_3 with the smallest share comes last."""
    own = {
        "u_1": wave(5.0, 0.25) + wave(1.0, 30.0),
        "u_2": wave(1.0, 0.25) + wave(0.5, 50.0),
        "u_3": wave(6.0, 0.25) + wave(0.9, 45.0),
    }
    name, _, frequency, size, _ = osc.oscillation(ran(**own), 1e-3, 0.05)
    assert name == "u_2" and frequency == pytest.approx(50.0, abs=0.26)
    assert size == pytest.approx(
        0.5 * left(50.0), rel=1e-2
    )  # the ends of the record are smoothed otherwise


@pytest.mark.parametrize("way", ["reference", "disturbance"])
def test_a_command_that_follows_a_fast_sine_does_not_chatter(way):
    """A drive of 7 Hz and its overtone are no chatter; what shakes at another frequency beside them is."""
    sine = Sine("output", (0.0,), (1.0,), 7.0)
    driven = {"reference": sine} if way == "reference" else {"disturbances": {"F": sine}}
    u = wave(0.5, 0.4) + wave(1.0, 7.0, 0.3) + wave(0.2, 14.0)
    assert chatter.chatters(ran(u_1=u, **driven))["u_1"].share < 1e-6
    assert chatter.chatters(ran(u_1=u))["u_1"].share > 0.5
    shaken = chatter.chatters(ran(u_1=u + wave(0.3, 31.0), **driven))["u_1"]
    assert shaken.share > 0.05 and shaken.frequency == pytest.approx(31.0, rel=0.02)


def test_what_a_limit_cuts_off_is_no_chatter():
    """A command far beyond its range stays at it, whatever it does there."""
    u = wave(0.5, 40.0) + 20.0
    assert osc.oscillation(ran({"u_1": (-10.0, 10.0)}, u_1=u), 1e-3, 0.05) is None
    assert osc.oscillation(ran({"u_1": (-10.0, 30.0)}, u_1=u), 1e-3, 0.01)[0] == "u_1"
    assert osc.oscillation(ran({"u_1": (-10.0, 30.0)}, u_1=-u), 1e-3, 0.01) is None


@pytest.mark.parametrize("amplitude, found", [(2e-14, False), (1e-11, False), (1e-9, True)])
def test_rounding_of_a_command_that_stands_is_no_chatter(amplitude, found):
    """A loop at rest uses no range of its command: 5 % of a thousand-millionth of the command itself is told from rounding."""
    u = 0.3 + wave(amplitude, 40.0)
    seen = osc.oscillation(ran(u_1=u, q_1=0.0), 1e-3, 0.05)
    assert (seen is not None) is found


def test_chatter_of_the_first_half_does_not_count():
    u = wave(2.0, 0.25) + wave(1.0, 40.0) * (TIME < 3.9)
    assert osc.oscillation(ran(u_1=u), 1e-3, 0.05) is None
    late = wave(2.0, 0.25) + wave(1.0, 40.0) * (TIME > 4.1)
    assert osc.oscillation(ran(u_1=late), 1e-3, 0.05)[0] == "u_1"


def test_a_window_swings_with_five_changes_of_side():
    """Half a second each; values within a quarter of the largest are on neither side."""
    half = TIME[:250]
    many, few = np.sign(np.sin(2 * np.pi * 6 * half)), np.sign(np.sin(2 * np.pi * 1.9 * half))
    assert chatter.swinging(np.r_[many, few], STEP)[:250].any()
    assert not chatter.swinging(np.r_[many, few], STEP)[250:].any()
    small = np.where(np.arange(250) == 3, 1.0, 0.24 * many)
    assert not chatter.swinging(small, STEP).any()
    assert chatter.swinging(np.where(np.arange(250) == 3, 1.0, 0.26 * many), STEP).any()
    # The last window is shorter, and asked for its share: half of it, half as many changes.
    assert chatter.swinging(np.r_[few, many[40:165]], STEP)[250:].any()


# ---- outputs --------------------------------------------------------------------------------------------------------------
def test_the_largest_cycle_of_the_outputs_is_named():
    run = ran(u_1=0.0, q_1=wave(0.01, 3.0), q_2=wave(0.03, 5.0), q_3=wave(2e-4, 4.0))
    found = osc.output_cycles(run, 1e-3)
    assert set(found) == {"q_1", "q_2"}
    name, kind, frequency, amplitude, unit = osc.oscillation(run, 1e-3, 0.05)
    assert (name, kind, unit) == ("q_2", "limit cycle", "rad")
    assert frequency == pytest.approx(5.0, rel=1e-3) and amplitude == pytest.approx(0.03, rel=1e-2)


def test_growth_is_told_apart_from_a_cycle():
    growing = wave(1e-3, 3.0) * np.exp(0.5 * TIME)
    assert osc.oscillation(ran(u_1=0.0, q_1=growing), 1e-4, 0.05)[1] == "growing oscillation"


def test_growth_without_a_waveform_needs_samples_of_the_loop():
    """What grows between forty samples is no growth yet; where the loop has samples enough, it is."""
    grown = ran(u_1=0.0, q_1=1e-5 * np.exp(TIME))
    brief = ran(u_1=0.0, q_1=1e-5 * np.exp(TIME))
    brief.fine = grown
    brief.log = Log(TIME[:40], grown.log.values[:40], grown.log.signals, {}, grown.log.status)
    assert set(osc.output_cycles(grown, 1e-4)) == {"q_1"} and osc.output_cycles(brief, 1e-4) == {}
    assert "40 samples" in osc.Oscillations(brief, {}, {}).few
    assert osc.Oscillations(grown, {}, {}).few == ""


def test_too_few_samples_decide_nothing():
    """Sixteen in the settled half: 32 in all."""
    run = ran(u_1=0.0, q_1=wave(0.01, 3.0))
    assert osc.FEWEST == 16 and osc.output_cycles(run, 1e-3)
    run.log = Log(TIME[:31], run.log.values[:31], run.log.signals, {}, run.log.status)
    assert osc.output_cycles(run, 1e-3) == {}


def test_periods_of_what_drives_the_loop():
    """A sine's, and one round of a path that is walked again and again."""
    sine = Sine("output", (0.0,), (1.0,), 4.0)
    path = Waypoints("output", ((0.0,), (1.0,), (0.0,)), 0.5)
    again = Waypoints("output", ((0.0,), (1.0,), (0.0,)), 0.5, repeat=3)
    assert commanded.commanded_periods(ran(q=0.0, reference=sine)) == [0.25]
    assert commanded.commanded_periods(ran(q=0.0, reference=path)) == []
    assert commanded.commanded_periods(ran(q=0.0, reference=Hold("output", (0.0,)))) == []
    (one,) = commanded.commanded_periods(ran(q=0.0, reference=again))
    assert one == pytest.approx(2 * 0.5 + again.dwell)
    both = commanded.commanded_periods(
        ran(q=0.0, reference=again, disturbances={"F": sine, "G": 3.0})
    )
    assert both == [one, 0.25]


def test_what_a_periodic_command_explains_is_gone():
    """e(t) − e(t − T): nothing of what repeats, twice the wave that is half a period out, a ramp of one period's rise."""
    t, rest = commanded.uncommanded(TIME, wave(3.0, 2.0), [0.5])
    assert t[0] == pytest.approx(0.5) and len(t) == len(TIME) - 250
    np.testing.assert_allclose(rest, 0, atol=1e-9)
    _, other = commanded.uncommanded(TIME, wave(3.0, 3.0), [0.5])
    assert np.abs(other).max() == pytest.approx(6.0, rel=1e-3)
    _, ramp = commanded.uncommanded(TIME, 0.7 * TIME, [0.5])
    np.testing.assert_allclose(ramp, 0.35, rtol=1e-9)


@pytest.mark.parametrize("period, taken", [(2.6, True), (2.7, False), (4.0, False)])
def test_a_period_must_fit_three_times(period, taken):
    t, _ = commanded.uncommanded(TIME, TIME, [period])
    assert (len(t) < len(TIME)) is taken


# ---- words ----------------------------------------------------------------------------------------------------------------
def test_a_floor_in_words():
    assert osc.small(ran(cylinders=("lift",), q_1=0.0), 2e-3) == "2 mrad or mm"
    mixed = ran(units={"y": "m", "z": "m", "w": "rad"}, y=0.0, z=0.0, w=0.0)
    assert osc.small(mixed, 2e-3) == "2 mm, 0.115 deg" or osc.small(mixed, 2e-3).count(",") == 1


def test_what_belongs_to_chatter_and_what_to_a_cycle(monkeypatch):
    run = ran(u_1=0.0, q_1=wave(0.01, 3.0))
    monkeypatch.setattr(osc, "_mode", lambda run, ω: [f"mode near {ω:.4g}"])
    told = osc.beside(run, 1e-3, ("u_1", "chatter", 40.0, 0.1, "V"))
    assert told.startswith("; with it a limit cycle of q_1, 3 Hz (18.8 rad/s), amplitude ")
    assert told.endswith("; mode near 251.3")
    assert osc.beside(run, 1e-3, ("q_1", "limit cycle", 3.0, 0.01, "rad")) == "; mode near 18.85"
    assert osc.beside(run, 1e-3, ("q_1", "growing oscillation", np.nan, 0.01, "rad")) == ""
    run.loop.plant.cylinders = ("lift",)
    assert osc.beside(run, 1e-3, ("q_1", "limit cycle", 3.0, 0.01, "rad")) == ""
