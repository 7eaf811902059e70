"""A Verdict: a claim about a loop, whether it holds, how strongly that is known, and where it is worst.

Nothing is rounded up: `holds` is None when the evidence decides neither way, and `strength` is that of the weakest
ingredient. Order of strength: proof > numerical > sampled > estimated.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

Strength = Literal["proof", "numerical", "sampled", "estimated"]
STRENGTHS: tuple[Strength, ...] = ("proof", "numerical", "sampled", "estimated")


@dataclass(frozen=True)
class Assumption:
    """One hypothesis a claim rests on: `holds` True, False or None (not known), its margin and where it is worst.

    terms: perturbations of a ledger that are zero where it is met (`workbench.verification.ledger.measured`).
    """

    text: str
    holds: bool | None
    margin: float | None = None
    unit: str = ""
    worst: str = ""
    source: str = ""
    terms: tuple[str, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """The answer to one claim.

    key          short identifier, e.g. "practical-stability"
    claim        the sentence that is true or false
    holds        True (holds), False (violated) or None (undecided)
    strength     "proof" | "numerical" | "sampled" | "estimated" (from runs, by statistics that are exact only in the limit of
                 many runs); None only when undecided
    margin       distance to the edge in `unit`, positive on the safe side; None when there is no such number
    limit        the number the margin is measured against, where there is one (same unit)
    worst        where it is worst, or why it is undecided
    assumptions  hypotheses with their own status
    source       equation, theorem or method
    counted      whether it counts for the exit code
    data         numbers behind the verdict (JSON-able), for reports
    instant      time at which the scenario's own run is worst, s; None where there is no such instant, or where it
                 belongs to another run (from another start, or held at its end)
    """

    key: str
    claim: str
    holds: bool | None
    strength: Strength | None = None
    margin: float | None = None
    unit: str = ""
    limit: float | None = None
    worst: str = ""
    assumptions: tuple[Assumption, ...] = ()
    source: str = ""
    counted: bool = True
    data: Mapping[str, Any] = field(default_factory=dict, hash=False)
    instant: float | None = None

    def __post_init__(self) -> None:
        if self.holds is not None:  # plain, whatever comparison it came from
            object.__setattr__(self, "holds", bool(self.holds))
        if self.holds is not None and self.strength not in STRENGTHS:
            raise ValueError(
                f"{self.key}: a decided verdict states its strength, one of {', '.join(STRENGTHS)}"
            )
        if self.margin is not None and math.isnan(self.margin):
            raise ValueError(
                f"{self.key}: a margin that is not a number; leave it None or make the claim undecided"
            )
        if self.holds and any(a.holds is False for a in self.assumptions):
            raise ValueError(f"{self.key}: holds although an assumption does not")

    @property
    def word(self) -> str:
        """'holds', 'violated' or 'undecided'."""
        return {True: "holds", False: "violated", None: "undecided"}[self.holds]

    def __repr__(self) -> str:
        """'holds · sampled · tracking: … · 6.2 µm at t = 4.61 s'; all of it is in `as_dict`."""
        said = (self.word, self.strength or "", self.claim, self.worst)
        return " · ".join(filter(None, (*said, "" if self.counted else "information")))

    def overruled(self, why: str, holds: bool | None = None, **changes: Any) -> Verdict:
        """The claim with another answer, without a margin, for this reason; the row says what it was."""
        known = {"strength": None if holds is None else "sampled", "margin": None} | changes
        return replace(self, holds=holds, worst=f"{why}; was: {self.worst}", **known)

    def as_dict(self) -> dict:
        """Plain data for JSON."""
        return {**asdict(self), "data": dict(self.data), "verdict": self.word}


# Keys of claims that say something about stability; the others are requirements on a run.
STABILITY = (
    "practical-stability",
    "linear-stability",
    "robust-stability",
    "mpc-stability",
    "region-of-attraction",
    "supplied",
    "tube",
    "sector",
    "linear",
)


def answers_stability(verdicts: Iterable[Verdict]) -> bool:
    """True where a counted claim about stability holds: only then "Is the loop stable?" may be answered with Yes."""
    return any(v.counted and v.holds and v.key in STABILITY for v in verdicts)


def lost_for_information(verdicts: Iterable[Verdict]) -> str:
    """The claims about stability that are violated and count for nothing, by key; "" for none."""
    lost = (v.key for v in verdicts if not v.counted and v.holds is False and v.key in STABILITY)
    return ", ".join(dict.fromkeys(lost))


def weakest(*strengths: Strength) -> Strength:
    """Strength of a conclusion drawn from all of these."""
    return max(strengths, key=STRENGTHS.index)


# Exit code of an answer.
CODES = {True: 0, False: 1, None: 2}


def conjunction(answers: Collection[bool | None]) -> bool | None:
    """False where one of them is; None where none is and one is not known; else True."""
    if False in answers:
        return False
    return None if None in answers else True


def exit_code(verdicts: Iterable[Verdict]) -> int:
    """0 every counted claim holds, 1 some is violated, 2 some is undecided and none violated."""
    answers = [v.holds for v in verdicts if v.counted]
    return CODES[conjunction(answers) if answers else None]
