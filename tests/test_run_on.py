"""A plant that keeps its state to itself is run on: what it does after the run is seen, as far as runs go."""

from types import SimpleNamespace

import numpy as np
import pytest
from fmus import bench

from controllers import PID
from workbench import FMU, ClosedLoop, Sampled, Scenario, Waypoints
from workbench.verification.practical import run_on
from workbench.verification.practical.run_on import of_run_on
from workbench.verification.practical.timed import beyond_the_run, timed
from workbench.verification.run import run as simulated
from workbench.verification.verdict import Verdict

LENGTH = 4.0


def run(error, period=0.1):
    """A run of 4 s that was 2 mm off at most."""
    scenario = SimpleNamespace(length=lambda: LENGTH)
    loop = SimpleNamespace(period=period)
    return SimpleNamespace(scenario=scenario, loop=loop, tool_error=error, error_unit="m", kept={})


def longer(monkeypatch, late, completed=True):
    """What the loop's run over 120 s shows: `late` off from 60 s on. The lengths that are asked for are kept."""
    asked = []
    time = np.linspace(0.0, 120.0, 241)
    off = np.where(time > 60.0, late, 2e-3)

    def undisturbed(run, duration):
        asked.append(duration)
        status = SimpleNamespace(completed=completed, message="the integrator gave up")
        return SimpleNamespace(log=SimpleNamespace(time=time, status=status), tool_error=off)

    monkeypatch.setattr(run_on, "undisturbed", undisturbed)
    monkeypatch.setattr(run_on, "floor_of", lambda run: 1e-4)
    return asked


@pytest.mark.parametrize("late, said", [(2.9e-3, False), (3.1e-3, True), (0.5, True)])
def test_further_off_than_ever_in_the_run_is_told(monkeypatch, late, said):
    asked = longer(monkeypatch, late)
    words = of_run_on(run(np.full(40, 2e-3)))
    assert asked == [120.0] and bool(words) is said
    assert not said or words.startswith("at t = 60.5 s it is ")


def test_a_run_that_ends_is_told_and_nothing_to_follow_is_not_run(monkeypatch):
    asked = longer(monkeypatch, 2e-3, completed=False)
    assert of_run_on(run(np.full(40, 2e-3))) == "run on, it is the integrator gave up"
    assert of_run_on(run(None)) == "" and len(asked) == 1


@pytest.mark.parametrize("period, wanted", [(0.1, 120.0), (1e-3, 30.0), (2e-4, None)])
def test_a_run_is_made_no_longer_than_so_many_samples(monkeypatch, period, wanted):
    asked = longer(monkeypatch, 2e-3)
    of_run_on(run(np.full(40, 2e-3), period))
    assert asked == ([] if wanted is None else [pytest.approx(wanted)])


@pytest.mark.parametrize("mood, holds", [(4, None), (0, True)])
def test_an_fmu_that_takes_no_command_any_more_is_seen(tmp_path, monkeypatch, mood, holds):
    """Co-simulation; after a second, the run being over, the spring pulls the mass back."""
    pytest.importorskip("fmpy")
    monkeypatch.setattr(run_on, "LEAST", 2.0)
    monkeypatch.setattr(run_on, "LENGTHS", 5.0)
    given = {
        "connect": {"outputs": {"q": "mass.q"}, "disturbances": ["D"]},
        "ranges": {"F": (-40, 40)},
    }
    plant = FMU(
        bench(tmp_path, 2),
        trust=True,
        interface="co-simulation",
        parameters={"mood": mood},
        **given,
    )
    law = PID(
        plant, K_p=(300.0,), K_i=(900.0,), K_d=(40.0,), u_max=40.0, feed="none", damping="none"
    )
    path = Waypoints("output", ("start", (0.05,)), 0.3)
    seen = simulated(ClosedLoop(plant, Sampled(law, 5e-3)), Scenario(0.4, path))
    stable = Verdict("practical-stability", "back", True, "sampled", 1.0)
    (found,) = beyond_the_run(seen, [stable])
    assert found.holds is holds, timed(seen)
    assert holds or "at t = 1." in found.worst
