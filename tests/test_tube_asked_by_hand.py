"""What a claim of a tube asks of a loop that is written down: words and SI units, the edges of what it takes, and the notes."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from workbench.contract.errors import InputError
from workbench.contract.signals import Signal
from workbench.verification import claims as C
from workbench.verification.tube import claim_settings as asked
from workbench.verification.tube.opened import Free, Noise, Varied

MASS = Varied("load.m", "kg", 7.0, 6.5, 9.0)
DAMPING = Varied("b", "N s/m", 20.0, 18.0, 21.0)
CLAIM = C.Tube(starts={"s": 0.002, "p": "0.4 bar", "v": 0.0})


def loop(*, outputs=("s",), lag=0.0, period=0.01, delay=0.0):
    plant = SimpleNamespace(
        states=(Signal("s", "m", ""), Signal("v", "m/s", ""), Signal("p", "Pa", ""))
    )
    law = SimpleNamespace(measured=(Signal("s", "m", ""), Signal("p", "Pa", "")), delay=delay)
    states = (*plant.states, Signal("I", "1", ""))
    return SimpleNamespace(plant=plant, controller=law, states=states, lag=lag, period=period)


@pytest.fixture
def told(monkeypatch):
    """Say what may be told of the loop's samples, and which numbers of its plant are known to bounds."""

    def say(units, numbers=()):
        monkeypatch.setattr(asked, "named", lambda loop: dict(units))
        monkeypatch.setattr(asked, "varied", lambda claim, loop: tuple(numbers))

    say({})
    return say


def why(ask, *given):
    with pytest.raises(InputError) as refused:
        ask(*given)
    return refused.value


# ---- starts and bounds ------------------------------------------------------------------------------------------------------
def test_widths_are_in_si_units_and_one_at_least_is_above_zero():
    assert asked.widths(CLAIM, loop()) == {"s": 0.002, "p": 40000.0, "v": 0.0}
    nothing = why(asked.widths, replace(CLAIM, starts={"s": 0.0, "v": 0.0}), loop())
    assert nothing.message == "starts: no state may start elsewhere"
    one = replace(CLAIM, starts={"s": 0.0, "v": 1e-9})
    assert asked.widths(one, loop()) == {"s": 0.0, "v": 1e-9}
    negative = why(asked.widths, replace(CLAIM, starts={"s": -1e-9, "v": 1.0}), loop())
    assert negative.message == "starts.s: -1e-09, expected a half-width"
    memory = why(asked.widths, replace(CLAIM, starts={"I": 1.0}), loop())
    assert memory.message.startswith("starts.I: ")


def test_bounds_of_states_and_of_what_is_told(told):
    """An error is a bound on either side of all that it is about; what is bounded under within is so besides."""
    told({"e_s": "m", "e_q": "m"})
    claim = replace(CLAIM, error="3 mm", within={"p": ("1 bar", "2 bar"), "e_q": (-0.001, 0.002)})
    assert asked.bounds(claim, loop()) == {
        "e_s": (-0.003, 0.003),
        "e_q": (-0.001, 0.002),
        "p": (1e5, 2e5),
    }
    assert asked.bounds(replace(claim, error=None), loop()).keys() == {"p", "e_q"}
    for pair in ((0.2, 0.2), (0.3, 0.2)):
        text = why(asked.bounds, replace(CLAIM, within={"s": pair}), loop()).message
        assert text == f"within.s: expected low < high, got {pair[0]} and 0.2"
    assert asked.bounds(replace(CLAIM, within={"s": (0.2, 0.2000001)}), loop())


def test_what_an_error_is_about(told):
    """The tool's, if there is a tool; else that of every output, if they have one unit."""
    told({"e_s": "m", "e_q": "m", "v": "J"})
    assert asked.errors_of(loop()) == {"e_s": "m", "e_q": "m"}
    assert asked.error_of(replace(CLAIM, error="2 mm"), loop()) == 0.002
    told({"e_s": "m", "e_φ": "rad", "tool_error": "m"})
    assert asked.errors_of(loop()) == {"tool_error": "m"}
    told({"e_s": "m", "e_φ": "rad"})
    several = why(asked.error_of, replace(CLAIM, error=0.1), loop())
    assert several.message == "error: outputs have several units (e_s in m, e_φ in rad)"
    told({"v": "J"})
    none = why(asked.error_of, replace(CLAIM, error=0.1), loop())
    assert none.message == "error: no output of this loop has a reference"


@pytest.mark.parametrize("size, taken", [(0.0, True), (1e-12, True), (-1e-12, False)])
def test_noise_has_a_size(size, taken):
    claim = replace(CLAIM, noise={"p": size, "s": "0.1 mm"})
    if taken:
        assert asked.noises(claim, loop()) == (Noise("p", "Pa", size), Noise("s", "m", 1e-4))
    else:
        text = why(asked.noises, claim, loop()).message
        assert text == "noise.p: -1e-12, expected a size"
    assert why(asked.noises, replace(CLAIM, noise={"v": 1.0}), loop()).message.startswith("noise.v")


# ---- a dead time ------------------------------------------------------------------------------------------------------------
LATE = {"lag": 0.003, "period": 0.01, "delay": 0.023}  # two samples and a part


@pytest.mark.parametrize(
    "low, high, taken",
    [
        (0.021, 0.029, True),
        (0.023, 0.023, True),
        (0.023, 0.029, True),
        (0.021, 0.023, True),
        (0.0231, 0.029, False),  # the run's own is not between them
        (0.021, 0.0229, False),
        (0.02 + 1.01e-10, 0.029, True),
        (0.02 + 0.9e-10, 0.029, False),  # as near to a whole number of samples as rounding may be
        (0.021, 0.03 - 1.01e-10, True),
        (0.021, 0.03 - 0.9e-10, False),
        (0.019, 0.029, False),
        (0.021, 0.031, False),
    ],
)
def test_bounds_of_a_dead_time_leave_out_whole_samples(low, high, taken):
    claim = replace(CLAIM, delay=(low, high))
    if taken:
        found = asked.late(claim, loop(**LATE))
        assert (found.lag, found.period) == (0.003, 0.01)
        assert (found.low, found.high) == pytest.approx((low - 0.02, high - 0.02), abs=1e-15)
    else:
        text = why(asked.late, claim, loop(**LATE)).message
        assert (
            text
            == "delay: expected bounds around 23 ms that leave out every whole number of samples of 10 ms"
        )


def test_a_dead_time_of_whole_samples_has_no_bounds():
    claim = replace(CLAIM, delay=(0.01, 0.03))
    assert why(asked.late, claim, loop(delay=0.02)).message.startswith("delay: the run has none")
    assert asked.late(CLAIM, loop(**LATE)) is None
    words = replace(CLAIM, delay=("20 mm", "30 ms"))
    assert why(asked.late, words, loop(**LATE)).message.startswith("delay: ")


# ---- parts ------------------------------------------------------------------------------------------------------------------
def test_how_many_parts_there_may_be():
    bounds = {"a": (1.0, 2.0), "b": (3.0, 4.0)}
    most = replace(CLAIM, parameters=bounds, parts={"a": 25, "b": 40})
    asked.check_parts(most)
    asked.check_parts(replace(most, parts={"a": 1}))
    text = why(asked.check_parts, replace(most, parts={"a": 7, "b": 143})).message
    assert text == "parts: 1001 tubes, expected no more than 1000"
    text = why(asked.check_parts, replace(most, parts={"a": 0})).message
    assert text == "parts.a: 0, expected a whole number from 1"
    assert why(asked.check_parts, replace(most, parts={"c": 2})).message.startswith("parts.c")
    later = replace(most, after=0.2)
    assert why(asked.check_parts, later).message.startswith("parts: runs with other numbers")
    asked.check_parts(replace(later, parts={}))


# ---- words ------------------------------------------------------------------------------------------------------------------
def test_a_claim_in_words(told):
    own = loop()
    half = asked.widths(CLAIM, own)
    plain = (
        "every run that starts within s ± 2 mm, p ± 0.4 bar of this one stays in a tube around it"
    )
    assert asked.sentence(CLAIM, own, half) == plain
    told({"e_s": "m", "tool_error": "m"})
    claim = replace(CLAIM, error="3 mm", within={"p": ("1 bar", "2 bar"), "e_s": (-0.001, 0.002)})
    assert asked.sentence(claim, own, half) == (
        f"{plain}, its tool no more than 3 mm from the reference at every sample, p between 1 bar and 2 bar, "
        "e_s between -1 mm and 2 mm at every sample"
    )
    told({"e_s": "m"})
    claim = replace(CLAIM, error="3 mm", after=0.25)
    assert asked.sentence(claim, own, half) == (
        f"{plain.replace('starts', 'is at 0.25 s')}, no more than 3 mm from the reference at every sample"
    )


def test_what_else_runs_may_differ_in_in_words(told):
    told({}, (MASS, DAMPING))
    claim = replace(CLAIM, noise={"s": "0.1 mm"}, delay=(0.021, "29 ms"))
    own = loop(**LATE)
    assert asked.others(claim, own) == [
        "load.m between 6.5 kg and 9 kg",
        "b between 18 N s/m and 21 N s/m",
        "noise of s up to ± 0.1 mm",
        "a dead time between 21 ms and 29 ms",
    ]
    text = asked.sentence(claim, own, asked.widths(claim, own))
    assert ", with load.m between 6.5 kg and 9 kg, b between" in text
    assert text.endswith("29 ms, stays in a tube around it")


def notes(slack=(), free=None, conditions=(), ends="rest"):
    c = SimpleNamespace(slack=np.array(slack))
    question = SimpleNamespace(tube=c, free=free or Free(), conditions=conditions, ends=ends)
    found = asked.notes(question)
    assert all(a.holds is None for a in found)
    return [a.text for a in found]


def test_what_a_tube_takes_for_granted():
    plain = notes()
    assert plain == [
        "parameters are the stored numbers, the model is the machine",
        "the references stay where they are at the end of the run: then for all times",
        "no noise; disturbances as in this run",
        "the model's equations hold throughout: no end of a stroke, no vacuum",
    ]
    free = Free((MASS, DAMPING), (Noise("s", "m", 1e-4),))
    found = notes((1e-12, 3e-11), free, ("excess",), "period")
    assert found[0].startswith("the predictive law's solver finds the minimum") and len(found) == 5
    assert found[1].startswith("but for load.m, b parameters are the stored")
    assert found[2].endswith("at the end of the run: then for all times (to 3e-11)")
    assert found[3] == "no noise but what is named; disturbances as in this run"
    assert notes(ends="horizon")[1] == "up to the end of the run, and no longer"
