"""What is asked of a loop in other conditions, from numbers written down: slower paths, other samples and delays, own errors."""

import math
import threading
from types import SimpleNamespace

import numpy as np
import pytest
from small import IDLE

from workbench import ClosedLoop, Delayed, Sampled, Scenario, Signal, Sine
from workbench.verification import accuracy, too_long
from workbench.verification.cause import scenario_trials as module
from workbench.verification.judge import _Progress
from workbench.verification.observed import valve_claims
from workbench.verification.run import error_unit
from workbench.verification.variant import variant

PATH = Sine("output", "start", (0.1,), 2.0)


# ---- a slower path --------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "share, oddness, free, count",
    [
        (0.7, 0.2, True, 2),
        (0.71, 0.8, False, 1),
        (0.0, 0.2, True, 2),
        (2.8, 0.8, False, 1),
        (3.0, 0.8, False, 2),
    ],
)
def test_a_path_that_is_fast_for_the_machine_is_odd(monkeypatch, share, oddness, free, count):
    """Four times as slowly, 2.8 times the machine's speed are 0.7 of it, and no slower path is needed."""
    monkeypatch.setattr(module, "asked_speed", lambda run: (share, "words"))
    run = SimpleNamespace(scenario=SimpleNamespace(reference=PATH))
    found = list(module._slower(run))
    assert [one.oddness for one in found] == [oddness, oddness][:count]
    free_of = [math.log10(k) if free else 0.0 for k in (4.0, 20.0)]
    assert [one.free for one in found] == free_of[:count]
    assert [one.scenario["reference"].frequency for one in found] == [0.5, 0.1][:count]
    assert {(one.kind, one.words) for one in found} == {("reference", "words")}


def asking(monkeypatch, feed="flow", **speeds):
    """A reference that asks for speeds (m/s) of outputs; the machine has 0.5 m/s. Of `place` no speed is wanted."""
    speeds |= {"place": 7.0}
    monkeypatch.setattr(module, "scales", lambda plant: SimpleNamespace(of_unit=of_unit))
    monkeypatch.setattr(module, "innermost", lambda controller: SimpleNamespace(feed=feed))
    monkeypatch.setattr(module, "feeds_forward", lambda law: True)
    signals = [SimpleNamespace(name=name, unit="m") for name in speeds]
    table = np.array([[0.1 * v, -v, 0.3 * v] for v in speeds.values()]).T
    demand = SimpleNamespace(
        live=[f"d{name}_d" for name in speeds],
        at=lambda t: table,
        wanted=[(n, k) for n in speeds for k in (0, 1) if (n, k) != ("place", 1)],
    )
    plant = SimpleNamespace(states=signals, outputs=())
    loop = SimpleNamespace(plant=plant, controller=None)
    run = SimpleNamespace(loop=loop, demand=demand, log=SimpleNamespace(time=np.zeros(3)))
    return module.asked_speed(run)


def of_unit(unit):
    return SimpleNamespace(value=0.5) if unit == "m/s" else None


def test_the_fastest_of_what_a_reference_asks_for(monkeypatch):
    monkeypatch.setattr(module, "target_name", lambda name, order: f"d{name}_d")
    share, words = asking(monkeypatch, y=0.2, z=0.45)
    assert share == pytest.approx(0.9)
    assert words == "the reference asks for 0.45 m/s of z, 90 % of what the machine has (0.5 m/s)"
    share, words = asking(monkeypatch, y=0.35, feed="none")
    assert share == pytest.approx(0.7)
    slow = "the reference is faster than this loop can follow"
    assert words == f"{slow}, and nothing feeds its velocity forward (controller.feed: none)"
    assert asking(monkeypatch) == (0.0, slow)


# ---- other samples and delays -----------------------------------------------------------------------
def made(loop, **other):
    """(delay, length of its queue, sample time) of the loop with these; the law inside is the same."""
    changed, _ = variant(loop, Scenario(1.0), **other)
    controller = changed.controller
    late = isinstance(controller, Delayed)
    sampler = controller.inner if late else controller
    assert sampler.inner is IDLE and changed.plant is IDLE.plant
    return controller.delay if late else None, late and controller.capacity, sampler.T_s


def test_a_loop_with_another_sample_time_or_delay():
    loop = ClosedLoop(IDLE.plant, IDLE)
    usual = Delayed(Sampled(IDLE, 2e-3), delay=6e-3).capacity
    assert made(loop) == (None, False, 1e-3)
    assert made(loop, T_s=3e-3) == (None, False, 3e-3)
    assert made(loop, delay=4e-3, capacity=16) == (4e-3, 16, 1e-3)
    own = ClosedLoop(IDLE.plant, Delayed(Sampled(IDLE, 2e-3), delay=6e-3))
    assert made(own, T_s=5e-3) == (6e-3, usual, 5e-3)
    assert made(own, delay=4e-3) == (4e-3, usual, 2e-3)
    assert made(own, delay=0.0) == (None, False, 2e-3)
    assert made(own, delay=0.0, capacity=8) == (0.0, 8, 2e-3)


# ---- runs that are too long -------------------------------------------------------------------------
def refused(monkeypatch, n, sub, period=1e-3, hosted=False):
    """The key that a run of n samples with so many steps each is refused with; "" for none."""
    monkeypatch.setattr(too_long, "grid", lambda loop, scenario: SimpleNamespace(n=n, n1=sub, n2=1))
    loop = SimpleNamespace(hosted=hosted, period=period)
    try:
        too_long.check_length(loop, Scenario(9.0))
    except too_long.TooLong as why:
        assert f"a run of 9 s has {n} samples and {n * (sub + 1)} steps" in why.message
        return why.key
    return ""


def test_runs_have_at_most_so_many_samples_and_steps(monkeypatch):
    most = too_long.MOST_SAMPLES
    assert (
        refused(monkeypatch, most, 9) == "" and refused(monkeypatch, most + 1, 8) == "sample_time"
    )
    assert refused(monkeypatch, most, 10) == "max_step"
    assert refused(monkeypatch, most + 1, 10, period=None) == "max_step"
    called = too_long.MOST_CALLED
    assert refused(monkeypatch, called, 9, hosted=True) == ""
    assert refused(monkeypatch, called + 1, 9, hosted=True) == "sample_time"
    assert refused(monkeypatch, called + 1, 9) == ""


# ---- a run's own error ------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "known, wanted, error",
    [
        ({"tcp_x": 3e-3, "tcp_z": 4e-3, "q": 9.0}, (("q", 0),), 5e-3),
        ({"tcp_x": 3e-3, "q": 9.0}, (("q", 0),), 3e-3),
        ({"tcp_y": 3e-3, "q": 2.0}, (("q", 0), ("q", 1)), 2.0),
        ({"tcp_y": 3e-3}, (("q", 0),), None),
    ],
)
def test_the_error_of_a_tool_or_of_what_follows_a_path(known, wanted, error):
    run = SimpleNamespace(demand=SimpleNamespace(wanted=wanted))
    found = accuracy.tool_error(run, known)
    assert found is None if error is None else found == pytest.approx(error)


# ---- progress -----------------------------------------------------------------------------------------
def test_work_that_is_done_goes_up_to_all_of_it():
    told = []
    bar = _Progress(lambda share, what: told.append((share, what)), 8)
    bar.tick("a", 2)
    bar.tick("b")
    bar.tick("b", 0)
    bar.tick("c", 9)
    assert told == [(0.25, "a"), (0.375, "b"), (0.375, "b"), (1.0, "c")]
    none = _Progress(None, 0)
    none.tick()
    assert (none.total, none.done) == (1, 1) and isinstance(none.alone, type(threading.Lock()))


# ---- the unit of an error ---------------------------------------------------------------------------
@pytest.mark.parametrize(
    "tool, references, unit",
    [
        (True, ("p_d",), "m"),
        (False, ("p_d", "q_d"), "Pa"),
        (False, ("q_d", "p_d"), "rad"),
        (False, ("z_d", "q_d"), "rad"),
        (False, ("p_d@2", "q_d"), "rad"),
        (False, (), "m"),
    ],
)
def test_an_error_has_the_unit_of_what_follows_first(tool, references, unit):
    outputs = (Signal("p", "Pa"), Signal("q", "rad"))
    inputs = [*(Signal(name, "1", "", "reference") for name in references), Signal("u", "V")]
    loop = SimpleNamespace(plant=SimpleNamespace(has_tool=tool, outputs=outputs), inputs=inputs)
    assert error_unit(loop) == unit


# ---- power of valves ----------------------------------------------------------------------------------
def losses(monkeypatch, pump, law, gap=0.0):
    """The verdict on one valve and one rod: power by the model is the pump's, by the valve's law `law`, W."""
    t = np.array([0.0, 1.0, 2.0])
    each = lambda v: np.full(3, float(v))
    account = SimpleNamespace(
        t=t, at=np.arange(3), pump=each(pump), work={"rod": each(pump - law)}, law={"v": each(law)},
        given={"v": each(law)}, gap=each(gap), suspects=(), counted=(),
    )  # fmt: skip
    monkeypatch.setattr(valve_claims, "_account", lambda key, run: account)
    monkeypatch.setattr(valve_claims, "diverged", lambda *given: None)
    run = SimpleNamespace(log={}, loop=None)
    return valve_claims.check_valve_losses(SimpleNamespace(share=1e-3, counted=True), run)


def test_a_small_machine_is_accounted_for_as_a_large_one(monkeypatch):
    for size in (1e-3, 1.0, 1e6):
        found = losses(monkeypatch, 8 * size, 2 * size)
        assert found.holds is True and found.worst.endswith(": rod 75 %, v 25 %")
        assert found.data["by"] == pytest.approx(
            {"pump": 16 * size, "rod": 12 * size, "v": 4 * size}
        )
        lost = losses(monkeypatch, 8 * size, 2 * size, 0.0081 * size)
        assert lost.holds is False and lost.margin == pytest.approx(1e-3 - 0.0081 / 8)
    assert losses(monkeypatch, 0.0, 0.0).holds is None
