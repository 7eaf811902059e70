"""How far off the starts of practical stability were on what is the user's own, and whether its loop comes back from there.

A plant that gives way smoothly further off (a spring that softens, a gain that fades) has no edge that could be looked for, and a
loop that holds near its path may not come back from there: a pole on a cart falls, whatever the law. So two starts that are FURTHER
times as far off as the others are tried, too: every state by all that it covered on its path, both ways. A loop that does not come
back from there is undecided. The verdict says from how far the loop came back, and claims nothing beyond. Machines of this library
are known beyond it, as far as their limits go; an FMU keeps its equations to itself and is asked as a plant of the user's own is.

So is a loop of such a machine whose law, or something between the two, is the user's own and an expression: it may turn or fade at
the edge of the reach, and nowhere near the path. Its joints alone are that far off, or as far as their path goes, where they fit
inside the strokes. From where the machine does not come back without what is the user's own, either, it is started half as far off.
A law that is called from Python is asked itself, outwards (`turns`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from workbench.contract.closed_loop import ClosedLoop
from workbench.contract.own_text import own
from workbench.contract.plain import Plain
from workbench.contract.system import System, innermost
from workbench.contract.units import format_quantity as say
from workbench.verification.practical.disturbed import Outcome
from workbench.verification.practical.starts import outermost, positions, sizes
from workbench.verification.run import Run
from workbench.verification.run import run as simulated
from workbench.verification.verdict import Assumption

MEND = "what is your own may give way further off: start it from there (`spread`, or `offset` in the scenario) to see"

FURTHER = 10.0
CLOSER = 0.5


def strange(plant: System) -> bool:
    """Whether nobody but its maker knows how a plant goes on: one of the user's own, or one that cannot be read."""
    return plant.on_floats or not own(type(plant))


def foreign(controller: System) -> bool:
    """Whether a law, or a wrapper around it, is the user's own and an expression."""
    around: Any = controller
    while around is not None and not isinstance(around, Plain):
        if not own(type(around)):
            return True
        around = around.inner
    return False


def further_off(run: Run, spread: float, tried: Callable[..., Outcome]) -> str:
    """That the loop does not come back from starts FURTHER off, in words; "" where it does, and of what this library knows.

    tried(start, there): what the loop of the run `there` showed from it, which is that of `run` where it is left out.
    """
    most = _furthest(run, spread)
    if not most:
        return ""
    bare = _bare(run)
    for start in outermost(run, most):
        why = lost(tried(start))
        if why and bare is not None and lost(tried(start, bare)):
            start = start.scaled(CLOSER)
            why = "" if lost(tried(start, bare)) else lost(tried(start))
        if why:
            return f"{why}, from a start further off: {start.words}; {MEND}"
    return ""


def _bare(run: Run) -> Run | None:
    """The run of a machine of this library without what is the user's own around its law; None where the law itself is."""
    if strange(run.loop.plant) or not own(type(innermost(run.loop.controller))):
        return None
    return simulated(ClosedLoop(run.loop.plant, _known(run.loop.controller)), run.scenario)


def _known(controller: Any) -> Any:
    """A controller without the wrappers that are the user's own."""
    if controller.inner is None:
        return controller
    inner = _known(controller.inner)
    return replace(controller, inner=inner) if own(type(controller)) else inner


def lost(outcome: Outcome) -> str:
    """Why the loop does not come back, in words; "" where it does, or is on its way."""
    worst = outcome.worst
    if outcome.gone or outcome.unrest or worst is None:
        return outcome.gone or outcome.unrest
    away = worst.word in ("growing", "staying") and not worst.lenient
    return f"{worst.signal.name} does not come back" if away else ""


def reach(run: Run, spread: float) -> tuple[Assumption, ...]:
    """As an assumption of a verdict that holds, how far states were off where that is not known to be enough."""
    units = {s.name: s.unit for s in run.loop.plant.states}
    most = _furthest(run, spread)
    told = ", ".join(f"{name} {say(size, units[name], 3)}" for name, size in most.items())
    return (Assumption(f"starts are no further off than {told}", None, worst=MEND),) if told else ()


def _furthest(run: Run, spread: float) -> dict[str, float]:
    """By how much each state is off at most, name → amount in its unit; none of what this library knows."""
    plant = run.loop.plant
    whole = strange(plant)
    if not whole and not foreign(run.loop.controller):
        return {}
    most = {name: FURTHER * size for name, size in sizes(run, spread).items()}
    if whole:
        return most
    joints = plant.joint_names or positions(plant)
    return {name: max(most[name], _covered(run, name)) for name in joints if name in most}


def _covered(run: Run, name: str) -> float:
    """How far a state went on its path, in its unit."""
    return float(np.ptp(run.log.array(name)))
