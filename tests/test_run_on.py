"""A plant that keeps its state to itself is run on: what it does after the run is seen, as far as runs go."""

from types import SimpleNamespace

import numpy as np
import pytest
from fmus import bench

from controllers import PID
from workbench import FMU, ClosedLoop, Sampled, Scenario, Signal, Waypoints
from workbench.interop.linear_plant import LinearPlant
from workbench.run.log import Log
from workbench.run.status import Status
from workbench.verification.practical.later import run_on
from workbench.verification.practical.later.run_on import of_run_on, seen_until
from workbench.verification.practical.later.timed import beyond_the_run, timed
from workbench.verification.run import run as simulated
from workbench.verification.verdict import Verdict

LENGTH = 4.0


def run(error, period=0.1):
    """A run of 4 s that was 2 mm off at most, of a plant with one output s."""
    scenario = SimpleNamespace(length=lambda: LENGTH)
    plant = LinearPlant((0.0,), (1.0,), (1.0,), ("s",), ("u",), ("s",))
    law = SimpleNamespace(commands=plant.inputs)
    loop = SimpleNamespace(period=period, plant=plant, controller=law)
    time = np.linspace(0.0, LENGTH, 40)
    log = Log(time, np.zeros((40, 1)), (Signal("s", "m"),), {}, Status(True, "", LENGTH))
    return SimpleNamespace(
        scenario=scenario, loop=loop, log=log, tool_error=error, error_unit="m", kept={}
    )


def longer(monkeypatch, late, completed=True, s=None):
    """What the loop's run over 120 s shows: `late` off from 60 s on, and s(t). The lengths that are asked for are kept."""
    asked = []
    time = np.linspace(0.0, 120.0, 2401)
    off = np.where(time > 60.0, late, 2e-3)
    rows = np.column_stack([s(time) if s else np.zeros_like(time), np.zeros_like(time)])
    signals = (Signal("s", "m", "sensor"), Signal("u", "1", "command"))

    def undisturbed(run, duration):
        asked.append(duration)
        status = Status(completed, "" if completed else "the integrator gave up", 120.0)
        return SimpleNamespace(
            log=Log(time, rows, signals, {}, status), tool_error=off, loop=run.loop
        )

    monkeypatch.setattr(run_on, "undisturbed", undisturbed)
    monkeypatch.setattr(run_on, "floor_of", lambda run: 1e-4)
    return asked


@pytest.mark.parametrize("late, said", [(2.9e-3, False), (3.1e-3, True), (0.5, True)])
def test_further_off_than_ever_in_the_run_is_told(monkeypatch, late, said):
    asked = longer(monkeypatch, late)
    words = of_run_on(run(np.full(40, 2e-3)))
    assert asked == [120.0] and bool(words) is said
    assert not said or words.startswith("at t = 60.1 s it is ")


def test_a_run_that_ends_is_told_and_nothing_to_follow_is_not_run(monkeypatch):
    asked = longer(monkeypatch, 2e-3, completed=False)
    assert of_run_on(run(np.full(40, 2e-3))) == "run on, it is the integrator gave up"
    assert len(asked) == 1


SWINGS = lambda t: 0.05 * np.sin(1.3 * t)


@pytest.mark.parametrize(
    "what, s, said",
    [
        ("swings", SWINGS, ""),
        ("settles", lambda t: 0.03 + 0.05 * np.exp(-t), ""),
        ("settles slowly", lambda t: 0.03 + 0.05 * np.exp(-t / 1.5), ""),
        ("noise", lambda t: np.random.default_rng(4).normal(size=t.size) * 1e-3, ""),
        ("drifts", lambda t: SWINGS(t) + 1e-5 * t, "until t = 120 s s drifts by "),
        ("swings more", lambda t: SWINGS(t) * (1 + 5e-4 * t), "until t = 120 s s drifts by "),
        ("elsewhere", lambda t: SWINGS(t) + 0.1 * (t > 60), "at t = 60"),
    ],
)
@pytest.mark.parametrize("followed", [True, False])
def test_a_signal_that_drifts_or_goes_elsewhere_is_told(monkeypatch, what, s, said, followed):
    """Where nothing is followed, too; what swings, settles or is noise stays where it was."""
    longer(monkeypatch, 2e-3, s=s)
    words = of_run_on(run(np.full(40, 2e-3) if followed else None))
    assert bool(words) is bool(said), words
    if what != "elsewhere":
        assert words.startswith(said)


def test_how_far_a_plant_was_seen_is_said_with_the_verdict(monkeypatch):
    longer(monkeypatch, 2e-3, s=SWINGS)
    seen = run(np.full(40, 2e-3))
    assert seen_until(seen) == ()
    assert of_run_on(seen) == ""
    (found,) = seen_until(seen)
    assert found.text == "the plant is seen until t = 120 s" and found.holds is None


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
