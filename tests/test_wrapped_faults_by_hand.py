"""Faults of what stands between machine and law, by hand: what each wrapper is put to, in words, and how odd it was."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from workbench.contract.annotations import Info
from workbench.contract.parameters import Leaf
from workbench.run.reference import Hold, Sine, Waypoints
from workbench.verification.cause import trials as module
from workbench.verification.practical import elsewhere
from workbench.verification.practical.contained import GROWING, _unseen


class Delayed(SimpleNamespace):
    """Named after what it wraps with, as the others below."""


class Sampled(SimpleNamespace):
    pass


class Filtered(SimpleNamespace):
    pass


class Noisy(SimpleNamespace):
    pass


class Quantised(SimpleNamespace):
    pass


class Saturated(SimpleNamespace):
    pass


def put_right(around, period=2e-3, limits=(), known=()):
    """The trials of one wrapper at path "c."."""
    plant = SimpleNamespace(limits=lambda: dict(enumerate(limits)))
    inside = SimpleNamespace(inner=None)
    loop = SimpleNamespace(plant=plant, period=period, controller=inside, hosted=False)
    return list(module._wrapper(loop, around, "c.", {path: None for path in known}))


@pytest.mark.parametrize(
    "delay, period, samples, oddness",
    [
        (5e-3, 2e-3, "2.5", 0.75),
        (5e-3, None, "5", 1.0),
        (20e-3, 2e-3, "10", 1.2),
        (13e-3, 2e-3, "6.5", 1.15),
    ],
)
def test_a_delay_is_taken_away_and_is_the_odder_the_more_samples_it_has(
    delay, period, samples, oddness
):
    (found,) = put_right(Delayed(delay=delay), period)
    assert found.words == f"delay of {1e3 * delay:g} ms, {samples} samples"
    assert found.numbers == {"c.delay": 0.0} and found.oddness == pytest.approx(oddness)
    assert put_right(Delayed(delay=0.0)) == []


@pytest.mark.parametrize(
    "T_s, held, put", [(5e-3, 0.0, 1e-3), (5e-3, 2e-3, 2e-3), (5e-3, 5e-3, None), (1e-3, 0.0, None)]
)
def test_a_sample_time_is_made_as_short_as_is_usual_or_as_its_delay_can_hold(
    monkeypatch, T_s, held, put
):
    """With it the one that a called law is made for."""
    monkeypatch.setattr(module, "_held_by", lambda controller: held)
    monkeypatch.setattr(module, "_made_for", lambda loop, known: {"c.law.T_s": T_s})
    found = put_right(Sampled(T_s=T_s))
    if put is None:
        assert found == []
        return
    assert found[0].numbers == {"c.T_s": put, "c.law.T_s": put}
    assert found[0].words == "sample time of 5 ms" and found[0].kind == "sample time"
    assert found[0].oddness == pytest.approx(0.5 + math.log10(5))


def test_how_short_a_delay_lets_samples_be(monkeypatch):
    monkeypatch.setattr(module, "Delayed", Delayed)
    assert module._held_by(Delayed(delay=0.06, capacity=12)) == 0.005
    assert module._held_by(Sampled(delay=0.06, capacity=12)) == 0.0


@pytest.mark.parametrize(
    "frequency, put, oddness",
    [
        (20.0, 300.0, 0.5 + math.log10(4.5)),
        (60.0, 600.0, 0.5 + math.log10(1.5)),
        (90.0, 900.0, 0.0),
        (200.0, 2000.0, 0.0),
    ],
)
def test_a_filter_is_opened_tenfold_from_thirty_hertz_on(frequency, put, oddness):
    """It is odd below ninety."""
    (found,) = put_right(Filtered(frequency=frequency))
    assert found.numbers == {"c.frequency": put} and found.oddness == pytest.approx(oddness)
    assert found.words == f"filter of {frequency:g} Hz on what is measured"


def test_noise_and_rounding_are_taken_away():
    (found,) = put_right(Noisy(σ=0.25, signals=("a", "b")))
    assert found.words == "noise of 0.25 on a, b" and found.numbers == {"c.σ": 0.0}
    assert found.oddness == 0.7 and put_right(Noisy(σ=0.0, signals=())) == []
    (found,) = put_right(Noisy(σ=0.25, signals=()))
    assert found.words == "noise of 0.25 on what is measured"
    (found,) = put_right(Quantised(resolution=0.5, signals=()))
    assert found.words == "quantisation, a resolution of 0.5, of what is measured"
    assert found.numbers == {"c.resolution": 5e-4} and found.oddness == 0.7


@pytest.mark.parametrize(
    "high, limits, put",
    [
        (4.0, ((-8.0, 8.0), (-10.0, 10.0)), 10.0),
        (9.5, ((-10.0, 10.0),), None),
        (9.4, ((-10.0, 10.0),), 10.0),
        (4.0, (), None),
        (4.0, ((-math.inf, math.inf),), None),
    ],
)
def test_limits_of_the_law_are_put_to_the_widest_of_the_machine(high, limits, put):
    found = put_right(Saturated(high=high), limits=limits)
    if put is None:
        assert found == []
        return
    assert found[0].numbers == {"c.low": -put, "c.high": put}
    assert (
        found[0].words == f"the controller limits commands to {high:g}, the machine takes {put:g}"
    )
    assert found[0].oddness == pytest.approx(0.5 + math.log10(put / high))


# ---- what is believed ------------------------------------------------------------------------------------------------------
def leaf(path, value, constant=False):
    return path, Leaf(path, value, Info("1"), constant)


def test_what_differs_between_machine_and_belief_and_is_no_constant():
    known = dict(
        [
            leaf("plant.a", 2.0), leaf("c.a", 3.0), leaf("plant.b", 2.0), leaf("c.b", 2.0),
            leaf("plant.d", 2.0, True), leaf("c.d", 5.0), leaf("plant.e", 2.0), leaf("c.e", 5.0, True),
            leaf("plant.pose.0", 1.0), leaf("c.pose.0", 4.0), leaf("plant.f", 1.0), leaf("other.a", 9.0),
        ]
    )  # fmt: skip
    assert module._differences(known, "plant.", "c.") == {"a": (2.0, 3.0)}


def test_numbers_of_one_name_that_differ_alike_are_one_fault():
    """Frequencies of two valves by the same ratio; a third by another; a belief of nothing by the number itself."""
    found = module.grouped(
        {
            "left.valve.frequency": (20.0, 10.0),
            "right.valve.frequency": (30.0, 15.0),
            "tip.valve.frequency": (30.0, 20.0),
            "cylinders.0.A": (2.0, 0.0),
            "cylinders.1.A": (2.0, 0.0),
            "cylinders.2.A": (3.0, 0.0),
        }
    )
    assert [list(group) for group in found.values()] == [
        ["left.valve.frequency", "right.valve.frequency"],
        ["tip.valve.frequency"],
        ["cylinders.0.A", "cylinders.1.A"],
        ["cylinders.2.A"],
    ]
    names = list(found)
    assert names[1] == "tip.valve.frequency" and names[3] == "cylinders.2.A"
    assert names[0] == "*.valve.frequency" and names[2] == "*.cylinders.A"


@pytest.mark.parametrize(
    "true, wrong, made",
    [
        (2.0, 1.0, True),
        (29.0, 1.0, True),
        (30.0, 1.0, False),
        (-2.0, 1.0, True),
        (1.0, 29.0, True),
        (1.0, 30.0, False),
        (2.0, 0.0, False),
    ],
)
@pytest.mark.parametrize("own", ["plant.", "plant.machine."])
def test_a_belief_is_put_right_and_a_tame_one_is_made_true(monkeypatch, true, wrong, made, own):
    monkeypatch.setattr(module, "believed", lambda loop: ("c.model.", "model"))
    known = dict([leaf(f"{own}m", true), leaf("c.model.m", wrong)])
    machine = None if own == "plant." else "a machine"
    found = list(module._models(SimpleNamespace(plant=SimpleNamespace(machine=machine)), known))
    assert [one.numbers for one in found] == [
        {"c.model.m": true},
        *([{f"{own}m": wrong}] if made else []),
    ]
    size = 1.0 if true * wrong <= 0 else min(1.2, 0.5 + abs(math.log10(true / wrong)))
    assert [one.oddness for one in found] == pytest.approx([size, 0.9 * size][: len(found)])
    assert all(one.words.startswith("plant.m is ") for one in found)


def one(kind, words, oddness, **numbers):
    return SimpleNamespace(
        kind=kind,
        words=words,
        oddness=oddness,
        numbers={k.replace("_", "."): v for k, v in numbers.items()},
    )


def test_two_faults_of_one_kind_are_put_right_together():
    """Of one number the first says what it becomes; beliefs count where they are the law's."""
    rows = [
        one("model", "a", 0.5, controller_a=1.0),
        one("model", "a true", 0.9, plant_a=9.0),
        one("model", "b", 0.75, controller_a=2.0, controller_b=3.0),
        one("gain", "c", 0.5, controller_c=1.0),
        one("gain", "c", 0.4, controller_c=2.0),
        one("machine", "d", 0.5, plant_d=1.0),
        one("machine", "e", 1.0),
    ]
    (found,) = module._together(rows)
    assert found.kind == "model" and found.words == "several numbers together: a; b"
    assert found.numbers == {"controller.a": 1.0, "controller.b": 3.0}
    assert found.oddness == pytest.approx(0.3)


# ---- loops that are held ----------------------------------------------------------------------------------------------------
def test_a_push_that_comes_to_rest_stays_as_it_was_last():
    run = SimpleNamespace(
        scenario=SimpleNamespace(length=lambda: 4.0),
        log=SimpleNamespace(time=np.linspace(0.0, 4.0, 5)),
    )
    assert elsewhere._last(run, 7.0) == 7.0
    wave = Sine("output", (1.0,), (0.5,), 0.3)
    assert elsewhere._last(run, wave) is wave
    done = Waypoints("output", ((1.0,), (3.0,)), 2.0)
    assert elsewhere._last(run, done) == pytest.approx(3.0)
    longer = Waypoints("output", ((1.0,), (3.0,)), 6.0)
    assert elsewhere._last(run, longer) is longer
    assert elsewhere._last(run, Hold("output", (2.5,))) == 2.5


@pytest.mark.parametrize(
    "rates, holds",
    [
        ((1.0, 2.0, 4.0), False),
        ((1.0, 1.0, 4.0), True),
        ((1.0, 2.0, 2.0), True),
        ((2.0, 4.0, 6.1), False),
    ],
)
def test_memory_that_grows_from_third_to_third_is_not_contained(rates, holds):
    """More than GROWING times as far each; what is in no log need not show."""
    assert GROWING == 1.5
    time = np.arange(40.0)
    move = np.concatenate([np.zeros(10), *(np.linspace(0.0, rate, 10) for rate in rates)])
    log = type("Log", (dict,), {"time": time, "array": dict.__getitem__})(
        {"z": move, "w": 0 * move}
    )
    found = _unseen(SimpleNamespace(log=log), "said", 10.0, ("w", "z"))
    assert found.holds is holds
    words = "said; held there, z grows on" if not holds else "said; held there, w, z does not grow"
    assert found.words == words
    assert _unseen(SimpleNamespace(log=log), "said", 10.0, ("w", "q")).holds is None
