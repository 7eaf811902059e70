"""How far off the starts of practical stability were, as the verdict on a plant of the user's own says it.

A plant that gives way smoothly further off (a spring that softens, a gain that fades) has no edge that could be looked for, and a
loop that holds near its path may not come back from there: a pole on a cart falls, whatever the law. So the verdict says from how
far the loop came back, and claims nothing beyond. Machines of this library are known beyond it, as far as their limits go.
"""

from __future__ import annotations

from collections.abc import Sequence

from workbench.contract.own_text import own
from workbench.contract.units import format_quantity as say
from workbench.verification.practical.starts import Start
from workbench.verification.run import Run
from workbench.verification.verdict import Assumption

MEND = "a plant may give way further off: start it from there (`spread`, or `offset` in the scenario) to see"


def reach(run: Run, starts: Sequence[Start]) -> tuple[Assumption, ...]:
    """As an assumption of a verdict that holds, how far the states of a user's own plant were off; not known to be enough."""
    plant = run.loop.plant
    if own(type(plant)) or not starts:
        return ()
    units = {s.name: s.unit for s in plant.states}
    moved = [name for name in units if any(name in start.amounts for start in starts)]
    most = {name: max(abs(s.amounts.get(name, 0.0)) for s in starts) for name in moved}
    told = ", ".join(f"{name} {say(size, units[name], 3)}" for name, size in most.items() if size)
    return (Assumption(f"starts are no further off than {told}", None, worst=MEND),)
