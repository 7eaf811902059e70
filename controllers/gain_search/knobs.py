"""What a search may change in a law: one factor for each gain, or one for each entry of a gain.

A factor multiplies all entries of a gain, so that their ratios stay as they are. Of the weights of a predictive law only the ratios
matter: one of Q, R and S stays as it is, and the others are changed. A horizon changes by whole samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from workbench.contract.closed_loop import ClosedLoop
from workbench.contract.errors import InputError
from workbench.contract.plain import Plain
from workbench.contract.system import innermost, rewrapped

REACH = 4.0  # octaves: a gain stays within this factor, 16, of where it began, both ways
DIGITS = 3  # of gains that are found


@dataclass(frozen=True)
class Knob:
    """A field of a law, and which of its entries is turned; None: all of them together."""

    field: str
    entry: int | None = None

    @property
    def name(self) -> str:
        """What it is called: λ, or λ[2] for its second entry."""
        return self.field if self.entry is None else f"{self.field}[{self.entry + 1}]"


def knobs(law: Any, free: Sequence[str] = (), each: bool = False) -> tuple[Knob, ...]:
    """The knobs of a law: those named, else all it offers. Raises InputError where there are none, or none of that name."""
    offered = law.searched
    if not offered:
        raise InputError(
            f"{type(law).__name__} names no gains that a search by runs could turn",
            mend="choose VDC, MPC or PID, with gains above zero to begin from",
        )
    for name in free:
        if name not in offered:
            raise InputError(
                f"free: {name} is not among what can be searched here, {', '.join(offered)}",
                mend="name some of these; a gain of zero has nothing to begin from",
            )
    chosen = tuple(name for name in offered if not free or name in free)
    return tuple(knob for name in chosen for knob in _of(name, getattr(law, name), each))


def _of(name: str, value: Any, each: bool) -> list[Knob]:
    if each and isinstance(value, tuple) and len(value) > 1:
        return [Knob(name, k) for k in range(len(value)) if value[k] > 0]
    return [Knob(name)]


def turned(loop: ClosedLoop, every: Sequence[Knob], octaves: Sequence[float]) -> ClosedLoop:
    """The loop with every knob turned by so many octaves, factors of two; numbers rounded.

    Raises what the law raises for such gains.
    """
    law = law_of(loop)
    values: dict[str, Any] = {}
    for knob, octave in zip(every, octaves):
        now = values.get(knob.field, getattr(law, knob.field))
        values[knob.field] = _times(now, 2.0**octave, knob.entry)
    return ClosedLoop(loop.plant, _around(loop.controller, replace(law, **values)))


def law_of(loop: ClosedLoop) -> Any:
    """The law of a loop; where the law is called from Python, the object that is called."""
    law = innermost(loop.controller)
    return law.law if isinstance(law, Plain) else law


def _around(controller: Any, law: Any) -> Any:
    """The wrappers around another law; how far ahead it looks decides which references it takes."""
    inner = innermost(controller)
    if isinstance(inner, Plain):
        law = replace(inner, law=law, references=())
    return rewrapped(controller, law)


def _times(value: Any, factor: float, entry: int | None) -> Any:
    if isinstance(value, int):
        return max(1, round(value * factor))
    if not isinstance(value, tuple):
        return rounded(value * factor) if factor != 1 else value
    return tuple(
        rounded(v * factor) if factor != 1 and entry in (None, k) else v
        for k, v in enumerate(value)
    )


def rounded(value: float) -> float:
    """A number rounded to as many digits as a person would write."""
    return float(f"{value:.{DIGITS}g}")
