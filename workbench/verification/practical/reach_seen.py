"""Two further starts, FURTHER times as far off as the others, for loops with a part that this library does not know.

A user's own plant may change smoothly further off its path (a spring softens, a gain fades), without an edge that `branches` could
find; a pole on a cart falls from far enough off, under any law. So every state of such a plant is moved by FURTHER times its size,
both ways. If the loop does not come back, the verdict is undecided; if it does, the verdict says from how far. An FMU counts as a
user's own plant, as its equations are not known. Machines of this library need no such starts: their equations hold up to their
limits.

A machine of this library under a user's own law, or wrapper, that is an expression is treated alike, with its joints only: FURTHER
times their size, or as far as their path goes, within the strokes. If the machine does not come back even without the user's part,
the start is taken CLOSER to the path. A law called from Python is examined by `branches.turns` instead.
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
    """Whether a plant's equations are unknown to this library: a user's own, or one that is stepped from outside (an FMU)."""
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
    """In words, that the loop does not come back from the further starts; "" where it does, or needs none.

    tried(start, there): the Outcome of a run from `start` of the loop of the run `there` (by default of `run`).
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
    """The run without the user's own wrappers; None where the plant or the law itself is the user's own."""
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
    """In words, why the loop does not come back; "" where it does, or is on its way."""
    worst = outcome.worst
    if outcome.gone or outcome.unrest or worst is None:
        return outcome.gone or outcome.unrest
    away = worst.word in ("growing", "staying") and not worst.lenient
    return f"{worst.signal.name} does not come back" if away else ""


def reach(run: Run, spread: float) -> tuple[Assumption, ...]:
    """The assumption "starts are no further off than …" of a verdict that holds; () for a loop that this library knows."""
    units = {s.name: s.unit for s in run.loop.plant.states}
    most = _furthest(run, spread)
    told = ", ".join(f"{name} {say(size, units[name], 3)}" for name, size in most.items())
    return (Assumption(f"starts are no further off than {told}", None, worst=MEND),) if told else ()


def _furthest(run: Run, spread: float) -> dict[str, float]:
    """State → its displacement in the further starts, in its unit; {} for a loop that this library knows."""
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
