"""Other starts where a path ends: a law that brings a machine back where the path begins need not do so where it stays.

Where a path comes to rest elsewhere than it began, the loop is started anew at that place, with the reference held there, beside
PAIR other starts around it, as far off as those of the path's begin. What they show counts where the loop is not stable there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from workbench.contract.capabilities import Posed, Varies, ends
from workbench.contract.errors import InputError
from workbench.run.reference import Hold
from workbench.run.scenario import Scenario
from workbench.run.targets import undisturbed as nominal_start
from workbench.verification.linear.modes import Modes
from workbench.verification.practical.decision import decided
from workbench.verification.practical.disturbed import disturbed
from workbench.verification.practical.nominal import Nominal
from workbench.verification.practical.starts import drawn, leading, sizes
from workbench.verification.run import Run
from workbench.verification.run import run as simulated
from workbench.verification.verdict import Verdict

PAIR = 2
BRIEF = 10.0  # s: how long the runs last at first, at most
APART = 1e-6  # of the largest component: ends nearer than this are where the path began


def at_its_end(
    claim,
    run: Run,
    known: Nominal,
    said: Callable,
    allowed: float | None,
    modes: Modes,
) -> Verdict | None:
    """The verdict on starts around the place where the path of this run ends; None where they come back, or for no such place."""
    there = where_it_ends(run)
    if there is None:
        return None
    amounts = sizes(run, claim.spread)
    starts = drawn(there, PAIR, claim.spread, amounts)
    outcomes, duration = disturbed(claim, there, starts, allowed, modes, None, amounts)
    found = decided(there, known, starts, outcomes, duration, said, modes)
    if found.holds:
        return None
    run.kept["outcomes"] = outcomes
    return replace(found, worst=f"held where its path ends: {found.worst}")


def where_it_ends(run: Run) -> Run | None:
    """The loop held at rest where the path of this run ends; None where that is where it began, or where it never rests."""
    reference = run.demand.reference
    length = run.scenario.length()
    if not isinstance(reference, Varies) or not ends(reference) <= length:
        return None
    begin, end = reference.sample(np.array([0.0, length]), 0)[0]
    if np.allclose(begin, end, rtol=0.0, atol=APART * float(np.abs([begin, end]).max())):
        return None
    scenario = replace(
        run.scenario,
        reference=Hold(reference.space, tuple(map(float, end))),
        duration=min(length, 0.5 * BRIEF),
        disturbances={name: _last(run, push) for name, push in run.scenario.disturbances.items()},
        log_period=None,
    )
    try:
        found = simulated(run.loop, _moved(run, scenario))
    except InputError:  # it cannot be started there
        return None
    return found if found.log.status.completed and not found.left[1] else None


def _last(run: Run, push):
    """What a disturbance is at the end of the run, where it comes to rest; what repeats goes on."""
    if not isinstance(push, Varies) or not ends(push) <= run.scenario.length():
        return push
    return float(push.sample(run.log.time[-1:], 0)[0, 0, 0])


def _moved(run: Run, scenario: Scenario) -> Scenario:
    """The scenario from where the run ends: at rest in its pose, where the plant can say what that is."""
    plant = run.loop.plant
    if isinstance(plant, Posed):
        pose = tuple(float(run.log.array(name)[-1]) for name in leading(plant))
        return replace(scenario, start=pose, offset={})
    begin = nominal_start(plant, run.scenario, run.demand.start)
    way = {s.name: float(run.log.array(s.name)[-1] - x) for s, x in zip(plant.states, begin)}
    return replace(scenario, offset=way)
