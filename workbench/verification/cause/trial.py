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
    """What most likely went wrong: its kind, a sentence, and the share of the badness that goes with it (None: not tried)."""

    kind: str
    words: str
    share: float | None = None

    @property
    def in_turn(self) -> bool:
        """Whether it is one of many numbers that were tried in turn, a tenth and ten times of it, and odd in no way."""
        *kind, factor = self.kind.split()
        return bool(kind) and factor.replace(".", "").isdigit()


@dataclass(frozen=True, eq=False)
class Trial:
    """One fault removed: numbers by the loop's path, changes of the scenario, what it is called, how odd it is (0 … 1.2).

    better: with what it goes well, where the words do not say it ("ten times that").
    law: another one in place of the loop's, where numbers alone do not say the change.
    free: badness that goes with it in any loop, such as the error of a path that is walked more slowly.
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
        """What is wrong, and with what it goes well, or at least better; well: whether a run without the fault shows none."""
        if not self.better:
            return self.words if heals else f"in part, {self.words}"
        return f"{self.words}: it goes {'well' if heals and well else 'better'} with {self.better}"

    def on(self, loop: System) -> System:
        """The loop with the fault removed."""
        if self.law is not None:
            return ClosedLoop(loop.plant, rewrapped(loop.controller, self.law))
        return bind(loop, dict(self.numbers)) if self.numbers else loop


def against(value: float, usual: float, of: str, unit: str = "1") -> str:
    """How a value stands to another, `of` saying whose, with the slip of units it may be: "9 × what …, 20 kg (180 kg)"."""
    own = say(value, unit)
    other = say(usual, unit)
    if value * usual <= 0:
        sign = ", of the wrong sign" if value * usual < 0 else ""
        return f"{own} and not {other}, {of}{sign}"
    return f"{value / usual:.4g} × {of}, {other} ({own}){slip(value, usual)}"


def slip(value: float, usual: float) -> str:
    """What a ratio that is one between units suggests; empty for any other. Both are of one sign."""
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
    """0 for the usual value, growing with the decades between: 0.5 at once, 1.2 for a factor of five and more."""
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
