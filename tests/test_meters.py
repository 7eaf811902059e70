"""What a plant of one's own is told: states that only count need not come back, and how far off starts were."""

import re
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from controllers import PID
from plants import LinearActuator
from workbench import ClosedLoop, Hold, Sampled, Scenario, Signal, Sine, System
from workbench.contract.machine_limits import Limit
from workbench.contract.plain import Plain
from workbench.verification import claims as C
from workbench.verification import verify
from workbench.verification.practical.meters import meters
from workbench.verification.practical.reach_seen import reach


@dataclass(frozen=True)
class Axis(System):
    """ẍ = u − (2 + wear) ẋ with a state n that counts something; `what` says what, and what it does to the axis."""

    what: str = "odometer"

    states = (Signal("x", "m"), Signal("v", "m/s"), Signal("n", "1"))
    inputs = (Signal("u", "N"),)

    @property
    def outputs(self):
        if self.what == "encoder":
            return self.states[2], self.states[1]
        return self.states if self.what == "shown" else self.states[:2]

    def initial(self):
        return [0.0, 0.0, 0.0]

    def machine_limits(self):
        return (Limit("full", ("n",), high=9.0),) if self.what == "limited" else ()

    def rhs(self, t, x, u):
        _, v, n = x
        travelled = np.sqrt(v * v + 1e-8)
        counted = {
            "energy": u[0] * v,
            "clock": 1.0 + 0.0 * v,
            "copy": v,
            "encoder": v,
            "leaks": travelled - 0.5 * n,
            "grows": travelled + 0.5 * n,
        }.get(self.what, travelled)
        wear = 3 * np.tanh(n) if self.what == "wears" else 0.0
        return [v, u[0] - (2.0 + wear) * v, counted]

    def out(self, t, x):
        return [x[self.states.index(signal)] for signal in self.outputs]


@dataclass(frozen=True)
class Fading(System):
    """An unstable axis whose command has less and less effect far from 0."""

    width: float

    states = outputs = (Signal("y", "m"),)
    inputs = (Signal("u", "m/s"),)

    def initial(self):
        return [0.0]

    def rhs(self, t, x, u):
        return [0.4 * x[0] + u[0] / (1 + (x[0] / self.width) ** 8)]

    def out(self, t, x):
        return list(x)


COUNT = ("odometer", "energy", "clock", "copy", "shown")
MATTER = ("wears", "limited", "grows")
PLACE = ("x", "v")  # what a law that is called measures


def loop_of(plant, called=False, sees="x", measured=PLACE):
    gains = {"K_p": (20.0,), "K_i": (0.0,), "K_d": (4.0,), "τ": 5e-3, "u_max": 50.0}
    law = PID(plant, **gains, feed="none", damping="none", signals=(sees,))
    if called:
        told = {"measured": measured, "references": ("x_d",)}
        law = Plain(lambda t, y, r: [20 * (r[0] - y[0]) - 4 * y[1]], **told)
    return ClosedLoop(plant, Sampled(law, T_s=5e-3))


@pytest.mark.parametrize("what", [*COUNT, *MATTER, "encoder", "leaks"])
def test_what_only_counts(what):
    seen = "n" if what == "encoder" else "x"
    assert meters(loop_of(Axis(what), sees=seen)) == (("n",) if what in COUNT else ())


def test_what_a_law_measures_does_not_only_count():
    """An output for people may show it; one that reaches the law may be followed from any place."""
    assert meters(loop_of(Axis("shown"), called=True)) == ("n",)
    assert meters(loop_of(Axis("shown"), called=True, measured=("x", "v", "n"))) == ()
    assert meters(loop_of(Axis("shown"), sees="n")) == ()


def test_a_plant_of_this_library_has_no_meters():
    plant = LinearActuator()
    assert (
        meters(
            ClosedLoop(plant, PID(plant, K_p=(0.4,), K_v=(0.0087,), feed="gain", damping="none"))
        )
        == ()
    )


def practical(what, called=False, sees="x"):
    loop = loop_of(Axis(what), called, sees)
    (verdict,) = verify(loop, Scenario(8.0, Hold("output", (0.1,))), [C.PracticalStability()])
    return verdict


@pytest.mark.parametrize("what", COUNT)
@pytest.mark.parametrize("called", [False, True])
def test_a_loop_whose_plant_counts_holds_and_says_what_does_not_come_back(what, called):
    verdict = practical(what, called)
    assert verdict.holds is True, verdict.worst
    assert any(a.text.startswith("n only counts") and a.holds for a in verdict.assumptions)


@pytest.mark.parametrize("what", MATTER)
def test_what_something_depends_on_has_to_come_back(what):
    verdict = practical(what)
    assert verdict.holds is False and "n " in verdict.worst
    assert not any("only counts" in a.text for a in verdict.assumptions)


def test_a_place_that_the_law_sees_through_a_copy_of_it_alone_has_to_come_back():
    """An encoder that was set to zero elsewhere: the law brings what it shows to rest, and the axis stays off."""
    verdict = practical("encoder", sees="n")
    assert verdict.holds is False and "x stays" in verdict.worst


def test_what_leaks_away_comes_back():
    assert practical("leaks").holds is True


# ---- how far off starts were -----------------------------------------------------------------------------------------------
def test_a_verdict_on_ones_own_plant_says_from_how_far_its_loop_came_back():
    """Each state by all that it covered, x and v of a step of 0.1 m, or ten times what is least; nothing is known beyond."""
    (found,) = [a for a in practical("leaks").assumptions if "no further off" in a.text]
    assert found.holds is None
    x, v, n = re.search(r"x ([0-9.]+) m, v ([0-9.]+) m/s, n ([0-9.]+)", found.text).groups()
    assert 0.1 <= float(x) < 0.12 and 0.2 < float(v) < 0.5 and n == "0.1"


def test_machines_of_this_library_are_known_further_off():
    known = Sampled(PID.design(LinearActuator()), 1e-3)
    run = SimpleNamespace(loop=SimpleNamespace(plant=LinearActuator(), controller=known))
    assert reach(run, 0.02) == ()


@pytest.mark.parametrize("width, holds", [(0.07, None), (0.5, True)])
@pytest.mark.parametrize("called", [False, True])
def test_a_gain_that_fades_is_undecided_where_starts_of_the_size_of_the_path_see_it(
    width, holds, called
):
    """ẏ = 0.4 y + u/(1 + (y/width)⁸), u = 6 e, beside a path of ±0.05 m.

    With 6/(1 + (y/w)⁸) = 0.4 nothing is left at y = 1.39 w; half of it is at w.
    """
    plant = Fading(width)
    law = PID(plant, K_p=(6.0,), K_i=(0.0,), feed="none", damping="none", u_max=1e6)
    if called:
        law = Plain(lambda t, y, r: [6.0 * (r[0] - y[0])], references=("y_d",))
    path = Scenario(8.0, Sine("output", (0.0,), (0.05,), 0.25))
    (verdict,) = verify(ClosedLoop(plant, Sampled(law, T_s=0.01)), path, [C.PracticalStability()])
    assert verdict.holds is holds, verdict.worst
    assert holds or "from a start further off: y +0." in verdict.worst
