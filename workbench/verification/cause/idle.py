"""A proportional gain of zero as the cause: the output does not reach its reference, or oscillates about it.

It is named where no change of another number helped enough. Feed-forward hides the fault while the path moves; integral action
alone on a plant that integrates, u̇ = K_i e, has no damping.
"""

from __future__ import annotations

from typing import Any

from workbench.contract.system import innermost, names
from workbench.verification.cause.gains import feeds_forward
from workbench.verification.cause.trial import Cause
from workbench.verification.run import Run


def without_gain(run: Run) -> Cause | None:
    """Commands of a PID whose K_p is 0 and that nothing damps, with what they should bring to its reference; None for none."""
    law: Any = innermost(run.loop.controller)
    if not feeds_forward(law):
        return None
    gains = zip(names(law.commands), names(law.measured), law.each(law.K_p), law.each(law.K_i))
    idle = [_told(u, y, K_i) for u, y, K_p, K_i in gains if not K_p]
    return Cause("gain", "; ".join(idle)) if idle else None


def _told(command: str, position: str, K_i: float) -> str:
    """What a command does without a proportional gain."""
    acts = "integral action alone brings" if K_i else "nothing brings"
    return f"controller.K_p of {command} is 0: {acts} {position} to its reference"
