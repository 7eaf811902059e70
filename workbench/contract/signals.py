"""A signal: what states, inputs, outputs and monitors of a system are called, and their units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Signal:
    """A named scalar in time: name, SI unit, meaning, kind.

    kind: "reference", "noise" or "disturbance" of an input, by who provides it; "friction" of an inner state of a friction
    law (deflection of bristles, oil film), which no measurement shows while the parts stick; "" for everything else.
    """

    name: str
    unit: str = "1"
    meaning: str = ""
    kind: str = ""

    @property
    def bristle(self) -> bool:
        """Whether it is how far bristles of friction are bent, m."""
        return self.kind == "friction" and self.unit == "m"


def names(signals: Sequence[Signal]) -> list[str]:
    """Names of signals, in order."""
    return [s.name for s in signals]
