"""A supply whose pressure is slower than the run: what its loop does when the pressure has come to where it stays.

A pump that follows its load with a long lag begins with what it was left with, and a run that is over before it falls shows nothing
of what it falls to. So where a mode in which a supply pressure takes part takes longer than the run (beside chamber pressures, or
an integrator as slow as itself), the loop is run on, undisturbed and under the same reference, for SETTLED time constants of it,
and nothing that the run showed is said of then where its error is MORE times the largest that the run had. A supply that is slower
than LONGEST is not seen to its end.
"""

from __future__ import annotations

from workbench.contract.units import format_quantity as say
from workbench.verification.linear.modes import Modes
from workbench.verification.practical.disturbed import undisturbed
from workbench.verification.practical.later.run_on import off_later
from workbench.verification.run import Run

SETTLED = 5.0  # time constants of a supply pressure, after which it is where it stays
LONGEST = 900.0  # s
MEND = "make the run longer to see it"


def starves_later(run: Run, modes: Modes) -> str:
    """When the loop is further off than it ever was in the run, because its supply has changed, in words; "" where it is not."""
    takes = SETTLED * _slowest(run, modes)
    if takes <= run.scenario.length():
        return ""
    supply = ", ".join(run.loop.plant.supply_names)
    slow = f"the supply takes {say(takes, 's', 3)} to come to where it stays ({supply})"
    if takes > LONGEST:
        return f"{slow}: {MEND}"
    seen = undisturbed(run, takes)
    if not seen.log.status.completed:
        return f"{slow}, and then the loop is {seen.log.status.message}"
    later = off_later(run, seen)
    return f"{slow}, and then the loop does not follow: {later}" if later else ""


def _slowest(run: Run, modes: Modes) -> float:
    """The longest time constant, s, of the modes in which a supply pressure takes part; 0 for none.

    A chamber closed by its valve is slower, and the supply that follows its load takes no part in that mode.
    """
    supply = set(run.loop.plant.supply_names)
    everywhere = (mode for place in modes.places for mode in place.modes)
    own = (m for m in everywhere if supply & set(m.states) and m.s.real < -m.rounding)
    return max((-1.0 / m.s.real for m in own), default=0.0)
