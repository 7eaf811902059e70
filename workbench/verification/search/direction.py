"""A direction of a search: one thing that may vary between two values; and what each kind of directions must state."""

from __future__ import annotations

import difflib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from workbench.contract.errors import InputError
from workbench.contract.system import System
from workbench.contract.units import format_quantity as say
from workbench.contract.units import quantity
from workbench.run.scenario import Scenario


class Kind(ABC):
    """A kind of things that may vary: which names are its own, what their values do to a loop and its scenario.

    1. `suits(name)` says whether a name of `over` is of this kind.
    2. `named(loop, scenario, name)` gives the Directions that the name stands for, without a range yet.
    3. `moved(loop, scenario, amounts)` gives loop and scenario with these values of Directions of this kind.
    4. `touches(direction)` names what it moves, with dots: no two directions may move the same.
    5. `written(loop, scenario, amounts)` is the same as `moved` for a case file: place in the file → value.
    6. `named_only` says that its values are names, of draws: one is as far from any other as the next, so that no range of them is
       narrow.
    """

    named_only: ClassVar[bool] = False

    @abstractmethod
    def suits(self, name: str) -> bool: ...

    @abstractmethod
    def named(self, loop: System, scenario: Scenario, name: str) -> tuple[Direction, ...]: ...

    @abstractmethod
    def moved(
        self, loop: System, scenario: Scenario, amounts: Mapping[Direction, float]
    ) -> tuple[System, Scenario]: ...

    @abstractmethod
    def touches(self, direction: Direction) -> Sequence[str]: ...

    @abstractmethod
    def written(
        self, loop: System, scenario: Scenario, amounts: Mapping[Direction, float]
    ) -> dict[str, Any]: ...

    def settled(
        self, loop: System, scenario: Scenario, amounts: Mapping[Direction, float]
    ) -> dict[Direction, float]:
        """The values as far as the machine can follow them; the default takes all of them."""
        return dict(amounts)

    def believed(self, loop: System, amounts: Mapping[Direction, float]) -> dict[str, float]:
        """Path of every number of the plant that is moved → its value before: what a controller goes on to believe."""
        return {}


@dataclass(frozen=True)
class Direction:
    """One thing that may vary: its name, its range, and its value in the run that is asked about (SI).

    kind    what it is one of;  of: which of them, as that kind needs it
    whole   whether its values are whole numbers
    least, most   values that it may have at all
    """

    name: str
    low: float
    high: float
    nominal: float
    unit: str
    kind: Kind
    of: tuple = field(default=(), repr=False)
    whole: bool = False
    least: float = -float("inf")
    most: float = float("inf")

    def at(self, place: float) -> float:
        """The value at a place from −1 (low) by 0 (nominal) to 1 (high)."""
        end = self.high if place > 0 else self.low
        inside = abs(place) < 1.0
        value = self.nominal + abs(place) * (end - self.nominal) if inside else end
        return float(round(value)) if self.whole else float(value)


def within(direction: Direction, key: str, ends: Sequence) -> Direction:
    """The direction with its range, in SI. Raises InputError, with `key` of the claim, for a range that is none."""
    if isinstance(ends, str) or len(ends) != 2:
        raise refusal(key, f"expected a range of two values, got {ends!r}", "write [low, high]")
    try:
        low, high = (float(quantity(end, direction.unit)) for end in ends)
    except InputError as why:
        raise refusal(key, why.message, why.mend) from None
    if not low < high:
        order = "write two values" if low == high else "write the smaller value first"
        raise refusal(key, f"the range {ends[0]} … {ends[1]} has no width", order)
    if not low <= direction.nominal <= high:
        own = say(direction.nominal, direction.unit)
        where = f"it is {own} in the case, outside {ends[0]} … {ends[1]}"
        raise refusal(key, where, "let the range hold the value of the case")
    if low < direction.least or high > direction.most:
        least, most = (say(end, direction.unit) for end in (direction.least, direction.most))
        possible = f"it can be {least} to {most}"
        raise refusal(key, f"the range {ends[0]} … {ends[1]} is beyond what is possible", possible)
    return replace(direction, low=low, high=high)


def refusal(name: str, words: str, mend: str) -> InputError:
    """The error of one name of `over`."""
    return InputError(words, key=name, mend=mend)


def nearest(name: str, known: Iterable[str]) -> str:
    """Names that may have been meant by one that does not exist."""
    every = list(known)
    near = difflib.get_close_matches(name, every, 3)
    return f"did you mean {' or '.join(near)}?" if near else f"choose from {', '.join(every[:6])}"
