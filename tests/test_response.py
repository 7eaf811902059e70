"""What time itself drives is a response, what a loop does by itself a limit cycle; what no other start tells apart is neither."""

from dataclasses import dataclass
from math import pi

import numpy as np
import pytest
from small import Feedback, Linear

from controllers import PID
from workbench import (
    ClosedLoop,
    Hold,
    InputError,
    Plain,
    Sampled,
    Scenario,
    Signal,
    Sine,
    System,
    verify,
)
from workbench.commands.compare import under
from workbench.verification.claims import PracticalStability
from workbench.verification.linear.loop import point, refuse_changing, refuse_turning
from workbench.verification.observed import response
from workbench.verification.proofs import LinearStability
from workbench.verification.run import run
from workbench.verification.run_claims import Settled

AT = Scenario(8.0, reference=Hold("output", (0.05,)))


@dataclass(frozen=True)
class Cart(System):
    """1 kg on a floor that shakes by itself, beside a spring and a motor of its own:  ẍ = u − c ẋ − m (x² − 0.01) ẋ + a sin ω t."""

    a: float = 2.0
    ω: float = 2 * pi * 3.0
    c: float = 4.0
    m: float = 0.0
    b: float = 0.0
    states = (Signal("x", "m", "position"), Signal("v", "m/s", "speed"))
    inputs = (Signal("u", "N", "force"), Signal("d", "N", "push", "disturbance"))
    outputs = (Signal("y", "m", "position"),)

    def initial(self):
        return [0.0, 0.0]

    def rhs(self, t, x, u):
        pushed = u[0] * (1.0 + self.b * np.sin(self.ω * t)) + u[1]
        own = self.c + self.m * (x[0] * x[0] - 0.01)
        return [x[1], pushed - own * x[1] + self.a * np.sin(self.ω * t)]

    def out(self, t, x):
        return [x[0]]


class Square:
    """A push that changes side every 0.2 s, for ever."""

    def sample(self, t, order):
        value = np.where(np.floor(np.asarray(t) / 0.2) % 2 == 0, 1.0, -1.0)
        return np.array([value * (k == 0) for k in range(order + 1)])[:, :, None]


def held(plant, **gains):
    gains = {"K_p": (60.0,), "K_i": (40.0,), **gains}
    return ClosedLoop(plant, Sampled(PID(plant, feed="none", damping="none", δ=0.0, **gains), 2e-3))


def asked(loop, scenario=AT, *claims):
    claims = claims or (Settled(), PracticalStability(runs=2, settle=2.0))
    return {v.key: v for v in verify(loop, scenario, claims)}


def test_a_plant_that_shakes_by_itself_is_no_limit_cycle():
    rows = asked(held(Cart()))
    assert rows["settled"].holds is True and rows["practical-stability"].holds is True
    assert "response to the plant's own motion" in rows["settled"].worst


def test_a_disturbance_of_unknown_period_is_no_limit_cycle():
    shaken = Scenario(8.0, reference=AT.reference, disturbances={"d": Square()})
    rows = asked(held(Cart(a=0.0)), shaken)
    assert rows["settled"].holds is True and rows["practical-stability"].holds is True
    assert "response to disturbance d" in rows["settled"].worst


@pytest.mark.parametrize("a", (0.0, 0.05))
def test_a_limit_cycle_beside_the_shaking_is_one(a):
    """Pushed on within ±0.1 m the cart swings at its own pace, whatever the floor does."""
    rows = asked(held(Cart(a=a, c=0.0, m=400.0), K_i=(0.0,)))
    assert rows["settled"].holds is False and "limit cycle" in rows["settled"].worst
    assert rows["practical-stability"].holds is not True


def test_a_shaken_loop_that_grows_is_violated():
    """No integral, and a damper that pushes: everything grows."""
    rows = asked(held(Cart(c=-0.6), K_i=(0.0,)))
    assert rows["settled"].holds is False and rows["practical-stability"].holds is False


def test_without_another_start_the_two_are_not_told_apart(monkeypatch):
    monkeypatch.setattr(response, "companion", lambda _: None)
    said = asked(held(Cart()), AT, Settled())["settled"]
    assert said.holds is None and said.counted and "look alike" in said.worst
    alone = asked(held(Cart(a=0.0, c=0.0, m=400.0), K_i=(0.0,)), AT, Settled())["settled"]
    assert alone.holds is False


def test_a_law_called_from_python():
    law = Plain(lambda t, y, r: [60.0 * (r[0] - y[0])], measured=("y",), references=("y_d",))
    loop = ClosedLoop(Cart(), Sampled(law, 2e-3))
    assert response.driven(run(loop, AT)) and asked(loop, AT, Settled())["settled"].holds is True
    calm = ClosedLoop(Cart(a=0.0), Sampled(law, 2e-3))
    assert response.driven(run(calm, AT)) == ""


def test_what_the_linearised_loop_is_asked():
    """Shaking changes no slope, so that the loop has a certificate; a gain that swings has none."""
    shaken = asked(held(Cart()), AT, LinearStability())["linear-stability"]
    assert shaken.holds is True and shaken.strength == "proof"
    grows = asked(held(Cart(c=-0.6), K_i=(0.0,)), AT, LinearStability())["linear-stability"]
    assert grows.holds is False
    swinging = asked(held(Cart(b=0.5)), AT, LinearStability())["linear-stability"]
    assert swinging.holds is None and "changes with time" in swinging.worst


def test_what_is_refused_of_a_shaken_plant():
    """Claims that something comes to rest refuse all that moves by itself."""
    refuse_changing(Cart())
    refuse_turning(Cart(a=0.0))
    for refuse, plant in ((refuse_turning, Cart()), (refuse_changing, Cart(b=0.5))):
        with pytest.raises(InputError, match="changes with time"):
            refuse(plant)
    assert point(Cart(), {}).x == [0.0, 0.0]


def test_too_few_periods_under_a_reference_that_never_rests_are_no_quiet():
    """In 4 s there are five periods of the cart's own swing: the run is made longer, and then it shows; a calm cart holds."""
    never = Scenario(8.0, reference=Sine("output", (0.05,), (0.02,), 0.5))
    own = asked(held(Cart(a=0.0, c=0.0, m=400.0), K_i=(0.0,)), never, Settled())["settled"]
    assert own.holds is False and "limit cycle" in own.worst
    short = asked(held(Cart(a=0.0, c=0.0, m=400.0), K_i=(0.0,)), never, Settled(longest=8.0))
    assert short["settled"].holds is None and "too few to tell" in short["settled"].worst
    assert asked(held(Cart(a=0.0)), never, Settled())["settled"].holds is True


def test_one_period_of_a_slow_reference_is_made_as_many_as_tell_what_repeats():
    """The path takes 25 s and the run as long, which tells nothing. A cart that swings besides is violated, soon enough."""
    slow = Scenario(25.0, reference=Sine("output", (0.05,), (0.2,), 0.04))
    calm = asked(held(Cart(a=0.0)), slow, Settled())["settled"]
    assert calm.holds is True, calm.worst
    stated = asked(held(Cart(a=0.0)), slow, Settled(longest=25.0))["settled"]
    assert stated.holds is None and "too few to tell" in stated.worst
    own = asked(held(Cart(a=0.0, c=0.0, m=4.0), K_i=(0.0,)), slow, Settled())["settled"]
    assert own.holds is False and "growing oscillation of y" in own.worst


@pytest.mark.parametrize("K, holds", [(-0.6, True), (0.4, False)])
def test_too_few_samples_make_the_run_longer(K, holds):
    """x⁺ = (1 + K) x sixty times over: with 144 samples a cycle can be told, and what grows too."""
    plant = Linear(((0.0,),), ((1e5,),), ((1.0,),), x0=(1e-3,))
    loop = ClosedLoop(plant, Sampled(Feedback(plant, ((-K,),), ((0.0,),)), 1e-5))
    said = asked(loop, Scenario(60e-5), Settled(rest=False))["settled"]
    assert said.holds is holds and "samples" not in said.worst
    short = asked(loop, Scenario(60e-5), Settled(rest=False, longest=60e-5))["settled"]
    assert short.holds is not True


@pytest.mark.parametrize(
    ("plant", "duration", "settles", "words"),
    [
        (Cart(), 8.0, True, ""),
        (Cart(a=0.05, c=0.0, m=400.0), 8.0, None, "too few"),
        (Cart(a=0.05, c=0.0, m=400.0), 40.0, False, "limit cycle"),
    ],
)
def test_cases_side_by_side_are_judged_as_alone(plant, duration, settles, words):
    """`workbench compare` takes what time drives for a response, and few periods of what swings by itself for nothing."""
    gains = {} if settles else {"K_i": (0.0,)}
    found = under(run(held(plant, **gains), Scenario(duration, reference=AT.reference)), 2.0)
    assert found.settled is settles and words in found.words


def test_cases_side_by_side_do_not_settle_where_nothing_tells(monkeypatch):
    monkeypatch.setattr(response, "companion", lambda _: None)
    assert under(run(held(Cart()), AT), 2.0).settled is None
