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
    """The bound on v and what the nominal run says about it; v is NaN for a law without an accompanying function."""

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
        return (
            f"practically stable, v ≤ {say(self.bound, 'J', 3)}, {back}"
            if math.isfinite(self.bound)
            else f"practically stable: {back}"
        )


def nominal_run(claim, run: Run) -> Nominal:
    if not has_ledger(run.loop):
        return Nominal(math.nan, math.nan, "", math.nan, True, "")
    stated = claim.bound is not None
    v, t, cause = settled_storage(run if stated else walking(run, claim.settle), claim.settle)
    bound = claim.bound if stated else max(HEADROOM * v, storage_floor(run))
    return Nominal(v, t, cause, bound, stated, "" if stated or run.left[1] else why_unsound(run))


def why_unsound(run: Run) -> str:
    """Why no bound may be set on this run: it oscillates, or its tool is far off; empty when neither."""
    e = run.tool_error
    far = e is not None and float(e[run.settled(SETTLE)].max()) > WORST_ERROR
    return restless(run) or (
        f"error {say(float(e[run.settled(SETTLE)].max()), run.error_unit, 3)}" if far else ""
    )
