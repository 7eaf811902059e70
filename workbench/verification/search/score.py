"""How near a run is to violating a requirement: 1 as the run that is asked about, 0 at the edge, below where it is violated."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module

from workbench.verification.run import Run
from workbench.verification.verdict import Verdict

VIOLATED = -1e-12  # at most, of a requirement that is violated, however small its margin
# Of a run that cannot be made: a machine that cannot be built, a start out of reach.
REFUSED = math.inf


@dataclass(frozen=True)
class Score:
    """The least score of a run's requirements, and the requirement it belongs to; none for a run that cannot be made.

    verdict  on that requirement, where the run was made just now
    each     (key, score) of every requirement that was decided
    moved    how far the run is from the one without deviations (`moves.move`); 0 for a run that cannot be made
    """

    value: float
    requirement: str = ""
    refused: str = ""
    each: tuple[tuple[str, float], ...] = ()
    verdict: Verdict | None = None
    moved: float = 0.0

    @property
    def violated(self) -> bool:
        return self.value < 0


def requirements(claims: Sequence) -> list:
    """Those claims that ask something of one run, give a margin and count."""
    return [claim for claim in claims if claim.searched and claim.counted]


def verdicts(asked: Sequence, run: Run) -> list[Verdict]:
    """What the requirements say of a run."""
    return [_check(claim)(claim, run.fine if claim.at_steps else run) for claim in asked]


def _check(claim) -> Callable:
    module, _, function = claim.check.rpartition(".")
    return getattr(import_module(f"workbench.verification.{module}"), function)


def score(asked: Sequence, nominal: Sequence[Verdict], run: Run) -> Score:
    """Margins as shares of those of the nominal run; an undecided requirement says nothing."""
    found = verdicts(asked, run)
    scored = [(v, _share(v, n)) for v, n in zip(found, nominal) if v.holds is not None]
    if not scored:
        return Score(REFUSED, refused="nothing was decided")
    nearest, value = min(scored, key=lambda one: one[1])
    each = tuple((v.key, share) for v, share in scored)
    return Score(value, nearest.key, each=each, verdict=nearest)


def _share(verdict: Verdict, nominal: Verdict) -> float:
    if verdict.margin is None or not nominal.margin or not math.isfinite(verdict.margin):
        return 1.0 if verdict.holds else -1.0
    share = verdict.margin / abs(nominal.margin)
    return share if verdict.holds else min(share, VIOLATED)
