"""Oscillations that are the response to something that acts in time: a plant that shakes by itself, a disturbance that is no sine.

A response with a known period can be subtracted (`commanded.uncommanded`). For any other, the run is repeated from another start
under the same scenario. The response to time is the same in both runs and cancels in their difference. A limit cycle has another
phase in the second run, so it stays in the difference, and so does a mode that grows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.contract.capabilities import Varies, ends
from workbench.contract.errors import InputError
from workbench.contract.system import names
from workbench.numerics.calculus import trace
from workbench.run.reference import Sine, Waypoints
from workbench.verification.observed.oscillation import Oscillations, oscillations, pace
from workbench.verification.practical.starts import SPREAD, drawn, scenario_from
from workbench.verification.run import Run
from workbench.verification.run import run as simulated

INSTANTS = 24  # at which a plant that is called from Python is asked whether time matters
ALIKE = 1e-12  # share of the largest rate: what rounding may change


@dataclass(frozen=True, eq=False)
class Swings:
    """Oscillations of the loop itself in the settled half of a run.

    seen     the oscillations, without the response to time where that is known
    driver   in words, what drives the motion in time; "" where nothing does, or nothing moves
    open     True where the two cannot be separated, because there is no other start
    """

    seen: Oscillations
    driver: str = ""
    open: bool = False

    def words(self, chatter: float) -> str:
        """The worst that swings by the loop's own doing; empty where there is none, and where the two cannot be told apart."""
        found = None if self.open else self.seen.worst(chatter)
        return f"{found[1]} of {found[0]}{pace(found[2])}" if found else ""


def swings(run: Run, floor: float, chatter: float) -> Swings:
    """Cycles of errors above the floor and commands that chatter by more than a share; the response to what time drives is none."""
    seen = oscillations(run, floor)
    driver = driven(run) if seen.worst(chatter) or seen.brief else ""
    if not driver:
        return Swings(seen)
    other = companion(run)
    if other is None:
        return Swings(seen, driver, True)
    return Swings(oscillations(run, floor, other), driver)


def driven(run: Run, after: float | None = None) -> str:
    """In words, what drives the loop by time itself, with no period that is known; "" where nothing does.

    after: s, from when on; where left out in the second half of the run, in which it is to be settled.
    """
    begin = 0.5 * run.scenario.length() if after is None else after
    for name, value in run.scenario.disturbances.items():
        known = isinstance(value, Sine | Waypoints)
        if isinstance(value, Varies) and not known and ends(value) > begin:
            return f"disturbance {name}"
    return "the plant's own motion in time" if moves_in_time(run) else ""


def moves_in_time(run: Run) -> bool:
    """Whether the plant moves in time by itself; asked once a run."""
    if "moves_in_time" not in run.kept:
        run.kept["moves_in_time"] = _timed(run)
    return run.kept["moves_in_time"]


def _timed(run: Run) -> bool:
    """Whether the plant's flow depends on time."""
    if not run.loop.hosted:
        return trace(run.loop, run.demand.live).flow_is_timed
    plant = run.loop.plant
    row = len(run.log.time) // 2
    x = [float(run.log.array(s.name)[row]) for s in plant.states]
    commands = {c: float(run.log.array(c)[row]) for c in names(run.loop.controller.commands)}
    given = {**plant.defaults(), **commands}
    u = [float(given.get(s.name, 0.0)) for s in plant.inputs]
    times = np.random.default_rng(1).uniform(0.0, run.scenario.length(), INSTANTS)
    try:
        rates = np.array([plant.rhs(float(t), x, u) for t in times], float)
    except InputError:
        return False
    return bool(np.ptp(rates, axis=0).max(initial=0.0) > ALIKE * np.abs(rates).max(initial=0.0))


def companion(run: Run) -> Run | None:
    """The run from another start; None where there is no such start, or where it ends early."""
    if "companion" not in run.kept:
        run.kept["companion"] = _companion(run)
    return run.kept["companion"]


def _companion(run: Run) -> Run | None:
    if run.loop.plant.no_other_starts:
        return None
    try:
        (start,) = drawn(run, 1, SPREAD)
        other = simulated(run.loop, scenario_from(run, start, run.scenario))
    except InputError:
        return None
    return other if other.log.status.completed and not other.left[1] else None
