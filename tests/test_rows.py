"""Rows of a log: what a reader wants to keep changes no verdict, and what happens between samples is seen."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from ledger_cases import CRANE, PATH, sampled
from small import Feedback, Linear

from workbench import ClosedLoop, Delayed, Sampled, Scenario, Sine, simulate
from workbench.cases.file import load, loads
from workbench.run.grid import as_asked, at_samples
from workbench.verification import claims as C
from workbench.verification import run_claims, verify
from workbench.verification.judge import default_claims
from workbench.verification.run import run

ARM = load(Path(__file__).parents[1] / "examples" / "arm-imv-pid.yaml")
RODS = loads("plant: {type: LinearActuator}\ncontroller: {law: PID}\n")
SWAY = Sine("output", "start", (0.01,), 0.7)


class Proportional:
    """A user's law."""

    measured, commands, references, T_s = ("y0",), ("u0",), ("y0_d",), 5e-3

    def command(self, t, z, y, r):
        return [3.0 * (r[0] - y[0])]


SPRING = Linear(((-0.3, 1.0), (-9.0, -0.8)), ((0.0,), (4.0,)), ((1.0, 0.0),), x0=(0.0, 0.0))
HOSTED = ClosedLoop(SPRING, Proportional())
LOOPS = {
    "crane under VDC": (sampled(CRANE), Scenario(0.8, PATH, offset={"q_1": 0.01})),
    "actuator under PID": (RODS.loop, Scenario(2.0, SWAY)),
    "continuous": (ClosedLoop(SPRING, Feedback(SPRING, ((2.0,),))), Scenario(2.0)),
    "metered arm": (ARM.loop, replace(ARM.scenario, duration=0.5)),
    "hosted": (HOSTED, Scenario(2.0, Sine("output", 0.0, 0.1, 0.4))),
}


def answers(loop, scenario):
    """What is said of the loop's own run."""
    read_off = (
        run_claims.Tracking,
        run_claims.Pressures,
        run_claims.NoCavitation,
        run_claims.Saturation,
        run_claims.Settled,
        run_claims.EnergyBalance,
        run_claims.ValveLosses,
        C.Inequality,
    )
    asked = tuple(c for c in default_claims(loop, scenario) if isinstance(c, read_off))
    return [(v.key, v.holds, v.margin, v.worst) for v in verify(loop, scenario, asked)]


@pytest.mark.parametrize("name", LOOPS)
def test_what_the_log_keeps_changes_no_verdict(name):
    loop, scenario = LOOPS[name]
    whole = answers(loop, scenario)
    assert whole
    for period in (10e-3, 1.0):
        assert answers(loop, replace(scenario, log_period=period)) == whole


# ---- between samples -----------------------------------------------------------------------------------------------
T_s, RIPPLE, ω = 20e-3, 0.1, 100 * np.pi  # the mode turns once a sample: no sample shows it
RIPPLING = Linear(
    ((-2.0, 0.0, 0.0), (0.0, -0.01, ω), (0.0, -ω, -0.01)),
    ((1.0,), (0.0,), (0.0,)),
    ((1.0, 1.0, 0.0),),
    x0=(0.0, 0.0, RIPPLE),
)
LEVEL = Scenario(2.0, Sine("output", 0.0, 0.0, 1.0))


def rippling(amplitude):
    plant = replace(RIPPLING, x0=(0.0, 0.0, amplitude))
    return ClosedLoop(plant, Sampled(Feedback(plant, ((1.0,),), ((1.0,),)), T_s))


def test_what_moves_between_samples_only_is_seen():
    """The largest error is that of the mode, which every sample misses."""
    (verdict,) = verify(rippling(RIPPLE), LEVEL, [run_claims.Tracking(error=0.05, settle=0.5)])
    seen = run(rippling(RIPPLE), LEVEL)
    assert np.abs(seen.log.array("y0")).max() < 0.05 * RIPPLE
    assert verdict.holds is False
    assert verdict.data["largest"] == pytest.approx(RIPPLE * np.exp(-0.01 * 0.5), rel=0.02)


def test_without_it_the_same_loop_holds():
    (verdict,) = verify(rippling(1e-3), LEVEL, [run_claims.Tracking(error=0.05, settle=0.5)])
    assert verdict.holds is True


@pytest.mark.parametrize("compiled", [None, False])
@pytest.mark.parametrize(
    "wrapped", [lambda law: law, lambda law: Delayed(law, 7e-3)], ids=["sampled", "delayed"]
)
def test_rows_at_steps_hold_those_at_samples(wrapped, compiled):
    """Equal steps: the same numbers, and a coarse log is a whole one with rows left out."""
    plant = RIPPLING
    loop = ClosedLoop(plant, wrapped(Sampled(Feedback(plant, ((1.0,),), ((1.0,),)), T_s)))
    whole = simulate(loop, LEVEL, compiled=compiled, rows="steps")
    samples, plain = at_samples(whole), simulate(loop, LEVEL, compiled=compiled)
    g = whole.provenance["grid"]
    assert g["n1"] + g["n2"] >= 20 and len(whole) == (g["n1"] + g["n2"]) * len(samples)
    np.testing.assert_array_equal(samples.values, plain.values)
    np.testing.assert_array_equal(samples.time, plain.time)
    thin = replace(LEVEL, log_period=0.1)
    asked = as_asked(samples, loop, thin)
    np.testing.assert_array_equal(asked.values, simulate(loop, thin, compiled=compiled).values)


def test_a_law_called_from_python_has_rows_at_steps_too():
    """Its commands stand between samples, the plant moves on."""
    whole = simulate(HOSTED, LOOPS["hosted"][1], rows="steps")
    samples = at_samples(whole)
    np.testing.assert_array_equal(samples.values, simulate(HOSTED, LOOPS["hosted"][1]).values)
    u = whole.array("u0")[:-5].reshape(-1, 5)
    assert (u == u[:, :1]).all() and np.ptp(u) > 0
    assert (np.diff(whole.array("x0")) != 0).mean() > 0.9
