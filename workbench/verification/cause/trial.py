"""A cause, a fault that is removed from a loop to see whether it goes better, and the words for how odd a number is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workbench.contract.closed_loop import ClosedLoop
from workbench.contract.parameters import bind
from workbench.contract.system import System, rewrapped
from workbench.contract.units import format_quantity as say

SLIPS = {
    1e3: "mm for m, or ms for s",
    1e5: "Pa for bar",
    60.0: "seconds for minutes",
    180.0 / math.pi: "degrees for rad",
    1e6: "MPa for Pa",
    6e4: "l/min for m³/s",
}
NEAR = 0.02  # relative distance at which a ratio is called a slip of units


@dataclass(frozen=True)
class Cause:
    """What most likely went wrong: its kind, a sentence, and the share of badness that is gone without it (None: not tried)."""

    kind: str
    words: str
    share: float | None = None

    @property
    def in_turn(self) -> bool:
        """Whether it is one of many numbers that were all tried at a tenth and ten times their value, as none was unusual."""
        *kind, factor = self.kind.split()
        return bool(kind) and factor.replace(".", "").isdigit()


@dataclass(frozen=True, eq=False)
class Trial:
    """A trial: one possible fault, removed from the loop or its scenario.

    kind      family of the fault, see `cause.trials`;  words: the fault, in words
    numbers   path in the loop → value without the fault;  scenario: fields of the scenario without it
    oddness   how unusual the present value is, 0 … 1.2 (`odd`)
    law       a law in place of the loop's, where numbers cannot express the change
    free      badness that this change removes from any loop, such as the error on a slower path
    better    the value with which it goes better, where `words` do not say it ("ten times that")
    """

    kind: str
    words: str
    numbers: Mapping[str, float]
    scenario: Mapping[str, Any]
    oddness: float
    law: Any = None
    free: float = 0.0
    better: str = ""

    def told(self, heals: bool, well: bool = True) -> str:
        """The sentence on this fault. heals: its removal takes enough away to be the cause; well: the run then shows no fault."""
        if not self.better:
            return self.words if heals else f"in part, {self.words}"
        return f"{self.words}: it goes {'well' if heals and well else 'better'} with {self.better}"

    def on(self, loop: System) -> System:
        """The loop with the fault removed."""
        if self.law is not None:
            return ClosedLoop(loop.plant, rewrapped(loop.controller, self.law))
        return bind(loop, dict(self.numbers)) if self.numbers else loop


def against(value: float, usual: float, of: str, unit: str = "1") -> str:
    """A value compared with the usual one, in words: "9 × what …, 20 kg (180 kg)"; of: whose value the usual one is.

    Where the ratio is that of two units, such as 1000 or 57.3, that slip is named.
    """
    own = say(value, unit)
    other = say(usual, unit)
    if value * usual <= 0:
        sign = ", of the wrong sign" if value * usual < 0 else ""
        return f"{own} and not {other}, {of}{sign}"
    return f"{value / usual:.4g} × {of}, {other} ({own}){slip(value, usual)}"


def slip(value: float, usual: float) -> str:
    """The slip of units that the ratio value/usual suggests, in words; "" for any other ratio. Both have the same sign."""
    ratio = value / usual
    return next(
        (
            f" (a slip of units, {words}?)"
            for size, words in SLIPS.items()
            for off in (ratio / size, ratio * size)
            if abs(off - 1) < NEAR
        ),
        "",
    )


def odd(value: float, usual: float) -> float:
    """How unusual a value is: 0 if equal, else 0.5 + |log₁₀(value/usual)|, at most 1.2; 1 for the wrong sign."""
    if value == usual:
        return 0.0
    if value * usual <= 0:
        return 1.0
    return min(1.2, 0.5 + abs(math.log10(value / usual)))


def own_path(controller) -> str:
    """Where the numbers of a law called from Python stand."""
    return law_path(controller) + "law."


def law_path(controller) -> str:
    """Where the law stands in the loop's numbers: "controller.inner." for every wrapper around it."""
    path = "controller."
    while controller.inner is not None:
        controller = controller.inner
        path = path + "inner."
    return path
