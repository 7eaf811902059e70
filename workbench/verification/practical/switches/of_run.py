"""The switches of the law of a run, whatever kind of law it is, and which sides of them a run took."""

from __future__ import annotations

from workbench.contract.errors import InputError
from workbench.verification.practical.switches.called import of_called
from workbench.verification.practical.switches.expression import of_expression
from workbench.verification.practical.switches.margins import Extent, Switching
from workbench.verification.practical.switches.own_plant import on_own_plant
from workbench.verification.run import Run


def switches_of(run: Run) -> Switching | None:
    """Those of this run's law, and of a plant of the user's own; None where there are none that can be asked."""
    if not run.loop.hosted:
        return of_expression(run)
    law = of_called(run)
    return None if law is None else on_own_plant(run, law)


def extent_of(run: Run) -> Extent | None:
    """The margins that a run had; None where its law has no switches."""
    law = switches_of(run)
    if law is None:
        return None
    try:
        _, low, high = law.margins(run)
    except InputError:  # a law that cannot be asked again
        return None
    return Extent.of(low, high)
