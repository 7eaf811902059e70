"""Other starts around the place where a run ends: a loop that is stable where its path begins need not be so where it ends.

If the machine comes to rest further from its start than the other starts are, the loop is run again at that place, with the
reference held there, and with PAIR other starts around it. What these runs show replaces the verdict unless the loop comes back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from workbench.contract.capabilities import Posed, Varies, ends
from workbench.contract.errors import InputError
from workbench.contract.system import names
from workbench.run.scenario import Scenario
from workbench.run.targets import undisturbed as nominal_start
from workbench.verification.linear.modes import Modes
from workbench.verification.observed.at_rest import stays_at
from workbench.verification.practical.decision import decided
from workbench.verification.practical.disturbed import disturbed
from workbench.verification.practical.nominal import Nominal
from workbench.verification.practical.returning import followed
from workbench.verification.practical.starts import PAIR, drawn, leading, positions, sizes
from workbench.verification.run import Run
from workbench.verification.run import run as simulated
from workbench.verification.verdict import Verdict

BRIEF = 10.0  # s: how long the runs last at first, at most


def at_its_end(
    claim,
    run: Run,
    known: Nominal,
    said: Callable,
    allowed: float | None,
    modes: Modes,
) -> Verdict | None:
    """The verdict on starts around the end of the path; None where the loop comes back, or the path ends near its start."""
    amounts = sizes(run, claim.spread)
    there = where_it_ends(run, amounts)
    if there is None:
        return None
    starts = drawn(there, PAIR, claim.spread, amounts)
    outcomes, duration = disturbed(claim, there, starts, allowed, modes, None, amounts)
    found = decided(there, known, starts, outcomes, duration, said, modes)
    if found.holds:
        return None
    run.kept["outcomes"] = outcomes
    return replace(found, worst=f"held where its path ends: {found.worst}")


def where_it_ends(run: Run, amounts: Mapping[str, float]) -> Run | None:
    """A run of the loop held where this run ends; None where the reference moves on, or no state is further off than `amounts`."""
    reference = run.demand.reference
    if not isinstance(reference, Varies) or not ends(reference) <= run.scenario.length():
        return None
    if not any(_way(run, name) > amounts.get(name, 0.0) for name in _places(run)):
        return None
    return held_at(run, -1)


def held_at(run: Run, row: int) -> Run | None:
    """A run of the loop held at rest at the place of this row (−1: the end of the run).

    None where the machine cannot stand there, and for a loop without a reference.
    """
    reference = run.demand.reference
    if not isinstance(reference, Varies):
        return None
    length = run.scenario.length()
    t = length if row == -1 else float(run.log.time[row])
    scenario = replace(
        run.scenario,
        reference=stays_at(reference, t),
        duration=min(length, 0.5 * BRIEF),
        disturbances={name: _last(run, push) for name, push in run.scenario.disturbances.items()},
        log_period=None,
    )
    try:
        found = simulated(run.loop, _moved(run, scenario, row))
    except InputError:  # it cannot be started there
        return None
    return None if found.end else found


def _places(run: Run) -> list[str]:
    """States that are positions, or that follow a reference."""
    known = names(run.loop.plant.states)
    found = (*positions(run.loop.plant), *followed(run))
    return [name for name in dict.fromkeys(found) if name in known]


def _way(run: Run, name: str) -> float:
    """Distance of a state between the beginning and the end of the run."""
    first, last = run.log.array(name)[[0, -1]]
    return abs(float(last - first))


def _last(run: Run, push):
    """A disturbance that comes to rest as its final value; one that goes on, as it is."""
    if not isinstance(push, Varies) or not ends(push) <= run.scenario.length():
        return push
    return float(push.sample(run.log.time[-1:], 0)[0, 0, 0])


def _moved(run: Run, scenario: Scenario, row: int) -> Scenario:
    """The scenario from where the run is at this row: at rest in its pose, where the plant can say what that is."""
    plant = run.loop.plant
    if isinstance(plant, Posed):
        pose = tuple(float(run.log.array(name)[row]) for name in leading(plant))
        return replace(scenario, start=pose, offset={})
    begin = nominal_start(plant, run.scenario, run.demand.start)
    way = {s.name: float(run.log.array(s.name)[row] - x) for s, x in zip(plant.states, begin)}
    return replace(scenario, offset=way)
