"""How far off the starts of practical stability were on a plant of the user's own, and whether its loop comes back from there.

A plant that gives way smoothly further off (a spring that softens, a gain that fades) has no edge that could be looked for, and a
loop that holds near its path may not come back from there: a pole on a cart falls, whatever the law. So two starts that are FURTHER
times as far off as the others are tried, too: every state by all that it covered on its path, both ways. A loop that does not come
back from there is undecided. The verdict says from how far the loop came back, and claims nothing beyond. Machines of this library
are known beyond it, as far as their limits go; an FMU keeps its equations to itself and is asked as a plant of the user's own is.
"""

from __future__ import annotations

from collections.abc import Callable

from workbench.contract.own_text import own
from workbench.contract.system import System
from workbench.contract.units import format_quantity as say
from workbench.verification.practical.disturbed import Outcome
from workbench.verification.practical.starts import Start, outermost, sizes
from workbench.verification.run import Run
from workbench.verification.verdict import Assumption

MEND = "a plant may give way further off: start it from there (`spread`, or `offset` in the scenario) to see"

FURTHER = 10.0


def strange(plant: System) -> bool:
    """Whether nobody but its maker knows how a plant goes on: one of the user's own, or one that cannot be read."""
    return plant.on_floats or not own(type(plant))


def further_off(run: Run, spread: float, tried: Callable[[Start], Outcome]) -> str:
    """That the loop does not come back from starts FURTHER off, in words; "" where it does, and of machines of this library."""
    if not strange(run.loop.plant):
        return ""
    for start in outermost(run, _furthest(run, spread)):
        why = lost(tried(start))
        if why:
            return f"{why}, from a start further off: {start.words}; {MEND}"
    return ""


def lost(outcome: Outcome) -> str:
    """Why the loop does not come back, in words; "" where it does, or is on its way."""
    worst = outcome.worst
    if outcome.gone or outcome.unrest or worst is None:
        return outcome.gone or outcome.unrest
    away = worst.word in ("growing", "staying") and not worst.lenient
    return f"{worst.signal.name} does not come back" if away else ""


def reach(run: Run, spread: float) -> tuple[Assumption, ...]:
    """As an assumption of a verdict that holds, how far the states of a strange plant were off; not known to be enough."""
    if not strange(run.loop.plant):
        return ()
    units = {s.name: s.unit for s in run.loop.plant.states}
    most = _furthest(run, spread)
    told = ", ".join(f"{name} {say(size, units[name], 3)}" for name, size in most.items())
    return (Assumption(f"starts are no further off than {told}", None, worst=MEND),) if told else ()


def _furthest(run: Run, spread: float) -> dict[str, float]:
    """By how much each state is off at most, name → amount in its unit."""
    return {name: FURTHER * size for name, size in sizes(run, spread).items()}
