"""What a plant of one's own is told: states that only count need not come back, and how far off starts were."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from controllers import PID
from plants import LinearActuator
from workbench import ClosedLoop, Hold, Sampled, Scenario, Signal, System
from workbench.contract.machine_limits import Limit
from workbench.contract.plain import Plain
from workbench.verification import claims as C
from workbench.verification import verify
from workbench.verification.practical.meters import meters
from workbench.verification.practical.reach_seen import reach
from workbench.verification.practical.starts import Start


@dataclass(frozen=True)
class Axis(System):
    """ẍ = u − (2 + wear) ẋ with a state n that counts something; `what` says what, and what it does to the axis."""

    what: str = "odometer"

    states = (Signal("x", "m"), Signal("v", "m/s"), Signal("n", "1"))
    inputs = (Signal("u", "N"),)

    @property
    def outputs(self):
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
            "place": v,
            "leaks": travelled - 0.5 * n,
            "grows": travelled + 0.5 * n,
        }.get(self.what, travelled)
        wear = 3 * np.tanh(n) if self.what == "wears" else 0.0
        return [v, u[0] - (2.0 + wear) * v, counted]

    def out(self, t, x):
        return list(x[: len(self.outputs)])


COUNT = ("odometer", "energy", "clock")
MATTER = ("wears", "shown", "limited", "place", "grows")


@pytest.mark.parametrize("what", [*COUNT, *MATTER, "leaks"])
def test_what_only_counts(what):
    assert meters(Axis(what)) == (("n",) if what in COUNT else ())


def test_a_plant_of_this_library_has_no_meters():
    assert meters(LinearActuator()) == ()


def practical(what, called=False):
    plant = Axis(what)
    gains = {"K_p": (20.0,), "K_i": (0.0,), "K_d": (4.0,), "τ": 5e-3, "u_max": 50.0}
    law = PID(plant, **gains, feed="none", damping="none", signals=("x",))
    if called:
        law = Plain(lambda t, y, r: [20 * (r[0] - y[0]) - 4 * y[1]], references=("x_d",))
    loop = ClosedLoop(plant, Sampled(law, T_s=5e-3))
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


def test_what_leaks_away_comes_back():
    assert practical("leaks").holds is True


# ---- how far off starts were -----------------------------------------------------------------------------------------------
def test_a_verdict_on_ones_own_plant_says_from_how_far_its_loop_came_back():
    """The largest of each state over all starts, in its unit; nothing is known beyond."""
    plant = Axis("leaks")
    run = SimpleNamespace(loop=SimpleNamespace(plant=plant))
    starts = [Start({"x": 0.02, "v": -0.1, "n": 0.0}), Start({"x": -0.05, "v": 0.07})]
    (found,) = reach(run, starts)
    assert found.holds is None
    assert found.text == "starts are no further off than x 50 mm, v 0.1 m/s"
    assert any(
        a.text.startswith("starts are no further off") for a in practical("leaks").assumptions
    )


def test_machines_of_this_library_are_known_further_off():
    run = SimpleNamespace(loop=SimpleNamespace(plant=LinearActuator()))
    assert reach(run, [Start({"Y": 1e-3})]) == ()
