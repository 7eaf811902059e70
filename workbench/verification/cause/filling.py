"""A supply that is too weak as the cause: the load moves a cylinder faster than the supply fills it, and a chamber cavitates."""

from __future__ import annotations

from workbench.verification.cause.trial import Cause
from workbench.verification.observed.pump import fills
from workbench.verification.run import Run

MEND = "a higher supply pressure (a load-sensing pump's margin or standby) mends it, or a valve that is narrower to the return"


def unfilled(run: Run) -> Cause | None:
    """The cylinder that its supply fills least, where a chamber fell below vacuum; None where none did.

    None also of a run in which a piston left its stroke: there the motion itself is wrong, and empty chambers follow from it.

    The pressure at which the chamber would come to rest is that of `observed.pump`; it does not depend on the speed.
    """
    if not run.hollow[1] or run.left[1]:
        return None
    asked = zip(run.loop.plant.notched, fills(run))
    lost = [(one.label, filled) for one, filled in asked if filled.holds is False]
    if not lost:
        return None
    label, least = min(lost, key=lambda entry: entry[1].margin)
    said = f"its load empties cylinder {label} faster than the supply fills it"
    return Cause("supply", f"{said}: {least.worst}; {MEND}")
