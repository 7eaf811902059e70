"""The undisturbed run that practical stability is held against: its storage after settling, and the bound set on it.

    v ≤ bound,   bound = max(10 v_settled, floor)   unless the user states one

v is the accompanying function of [Petrovic22] (95)–(98), in J. No bound is set on a run that oscillates or whose tool is far off.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from workbench.contract.units import format_quantity as say
from workbench.verification.ledger.balance import has_ledger
from workbench.verification.practical.disturbed import restless, settled_storage, walking
from workbench.verification.run import Run
from workbench.verification.scales import storage_floor

HEADROOM = 10.0  # a bound nobody stated: so many times the largest settled v of the nominal run
WORST_ERROR = 20e-3  # m: no bound is set on a run with a larger tool error
SETTLE = 3.0  # s allowed for settling on a machine, at most


@dataclass(frozen=True)
class Nominal:
    """The bound on v, and what the nominal run says about it.

    v, t, cause   largest v after settling in J, when it was in s, and what drove it; NaN for a law that states no v
    bound         J;   stated: whether the user gave it
    unsound       why no bound may be set on this run; "" where one may
    """

    v: float
    t: float
    cause: str
    bound: float
    stated: bool
    unsound: str

    @property
    def text(self) -> str:
        """The claim as a sentence."""
        back = "back on its path from other starts"
        if math.isfinite(self.bound):
            return f"practically stable, v ≤ {say(self.bound, 'J', 3)}, {back}"
        return f"practically stable: {back}"


def nominal_run(claim, run: Run) -> Nominal:
    """What the undisturbed run allows: the bound that the claim states, or one from the largest settled v."""
    if not has_ledger(run.loop):
        return Nominal(math.nan, math.nan, "", math.nan, stated=True, unsound="")
    if claim.bound is not None:
        v, t, cause = settled_storage(run, claim.settle)
        return Nominal(v, t, cause, claim.bound, stated=True, unsound="")
    v, t, cause = settled_storage(walking(run, claim.settle), claim.settle)
    bound = max(HEADROOM * v, storage_floor(run))
    _, beyond = run.left
    return Nominal(v, t, cause, bound, stated=False, unsound="" if beyond else why_unsound(run))


def why_unsound(run: Run) -> str:
    """Why no bound may be set on this run: it oscillates, or its tool is far off; empty when neither."""
    if reason := restless(run):
        return reason
    if run.tool_error is None:
        return ""
    largest = float(run.tool_error[run.settled(SETTLE)].max())
    return f"error {say(largest, run.error_unit, 3)}" if largest > WORST_ERROR else ""
