"""Whether the nonlinear loop contains a mode that grows in the linearised loop, as friction contains a drift: seen in runs.

Where the loop rests: it is run from another start and held at its end for GROWTHS time constants of the mode, LEAST s or more. The
mode is contained if the errors stand still to within the floor; if they swing on, that is a limit cycle of the size seen. A mode
in the law's memory alone need not show in any error; there the memory itself must not grow. The answer is undecided where the hold
would be longer than the stated limit.
Where the path passes: the mode of the loop linearised at such a point is contained if the run from every other start passed
that point and came back.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from workbench.contract.system import names
from workbench.contract.units import format_quantity as say
from workbench.run.scenario import Scenario
from workbench.verification.linear.modes import Mode, Modes
from workbench.verification.observed.at_rest import comes_to_rest, held_from_its_start
from workbench.verification.observed.tail import rests
from workbench.verification.practical.returning import GROWING
from workbench.verification.practical.starts import Start, scenario_from
from workbench.verification.run import Run
from workbench.verification.run import run as simulated
from workbench.verification.verdict import Assumption

GROWTHS = 5.0  # time constants of a mode that grows, for which the loop is held at rest
LEAST = 2.0  # s for which it is held at least: a few samples say of nothing that it stands still
SOURCE = "eigenvalues of the linearised loop, held against runs"


@dataclass(frozen=True)
class Contained:
    """Whether the growing modes are contained: True, False (a limit cycle, growth) or None (not known), and why in words."""

    holds: bool | None
    words: str

    def assumption(self) -> Assumption:
        """The assumption "no mode grows" of a verdict that holds: not met, but harmless, so its status is None."""
        return Assumption(
            "no mode of the linearised loop grows", None, None, "", self.words, SOURCE
        )


def containment(
    run: Run, modes: Modes, start: Start, floor: float, longest: float, lasted: float
) -> Contained | None:
    """Whether the growing modes among `modes` are contained; None where no mode grows.

    start: where the held run starts. floor: largest motion at rest that counts as standing still, in the unit of the errors.
    longest: limit on the time of the hold, s. lasted: duration of the runs from other starts, s.
    """
    growing = [m for m in modes.unstable if not m.aside]
    if not growing:
        return None
    at_rest = [m for m in growing if _rests(modes, m)]
    unpassed = next((m for m in growing if m.t > lasted), None)
    if not at_rest and unpassed:
        ended = f"the runs from other starts end at t = {say(lasted, 's', 3)}, before"
        return Contained(None, f"{unpassed.where}: a mode {unpassed.words}; {ended}")
    if not at_rest:
        return Contained(
            True,
            f"{growing[0].where}: a mode {growing[0].words}; every other start came back all the same",
        )
    slowest = min(at_rest, key=lambda m: m.s.real)
    return _held(run, slowest, start, floor, longest)


def _rests(modes: Modes, mode: Mode) -> bool:
    return any(mode in place.modes and place.lasts for place in modes.places)


def _held(run: Run, mode: Mode, start: Start, floor: float, longest: float) -> Contained:
    """The loop held at its end, long enough for the mode to show."""
    said = f"{mode.where}: a mode {mode.words}"
    wanted = max(GROWTHS * mode.time_constant, LEAST)
    length = run.scenario.length()
    if wanted > max(longest, length):
        return Contained(
            None, f"{said}; too slow to be seen within {say(max(longest, length), 's', 3)}"
        )
    scenario = _held_scenario(run)
    if scenario is None:
        return Contained(
            None, f"{said}; the reference never rests, so nothing shows whether it is contained"
        )
    end = scenario_from(run, start, replace(scenario, duration=length + wanted))
    seen = simulated(run.loop, end)
    if not seen.log.status.completed:
        holds = False if seen.log.status.followed else None
        return Contained(holds, f"{said}; held there, the run is {seen.log.status.message}")
    memory = _in_memory(run, mode)
    if memory:
        return _unseen(seen, said, length, memory)
    widest = max(rests(seen, length, floor), key=lambda r: r.width, default=None)
    if widest is None or widest.word == "still":
        return Contained(
            True, f"{said}; held there for {say(wanted, 's', 3)} it stands still all the same"
        )
    unit = seen.log.signal(widest.name).unit
    cycle = f"{said}; held there, {widest.name} swings by {say(0.5 * widest.width, unit, 3)}"
    return Contained(False if widest.word == "restless" else None, cycle)


def _held_scenario(run: Run) -> Scenario | None:
    """The scenario whose reference rests at its end; for an endless path, held at its start; None where neither is possible."""
    if comes_to_rest(run):
        return replace(run.scenario, reference=run.demand.reference or run.scenario.reference)
    return held_from_its_start(run)


def _in_memory(run: Run, mode: Mode) -> tuple[str, ...]:
    """The states of the mode where all of them are memory of the law; () where the plant takes part."""
    return () if set(mode.states) & set(names(run.loop.plant.states)) else mode.states


def _unseen(seen: Run, said: str, begin: float, memory: tuple[str, ...]) -> Contained:
    """Whether the law's memory grows while the loop is held; not known where it is not logged, as of a law called from Python."""
    moved = {}
    for name in memory:
        if name not in seen.log:
            return Contained(None, f"{said}, which no output need show")
        late = seen.log.array(name)[np.searchsorted(seen.log.time, begin) :]
        moved[name] = [float(np.ptp(part)) for part in np.array_split(late, 3)]
    for name, (first, middle, last) in moved.items():
        if last > GROWING * middle > GROWING**2 * first:
            return Contained(False, f"{said}; held there, {name} grows on")
    return Contained(True, f"{said}; held there, {', '.join(memory)} does not grow")
