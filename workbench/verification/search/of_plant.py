"""What may vary of the true machine; the controller keeps what it believes.

payload.mass, valve.frequency   every number whose path ends so; all of them take the same value
scale.valve.frequency           every number whose path ends so, times one factor
friction                        the level of friction: every force in the laws of friction, times one factor
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from workbench.cases.edit import exchanged
from workbench.contract.closed_loop import ClosedLoop
from workbench.contract.errors import InputError
from workbench.contract.numbers import numbers
from workbench.contract.parameters import Leaf, leaves
from workbench.contract.system import System
from workbench.run.scenario import Scenario
from workbench.verification.search.direction import Direction, Kind, refusal

FRICTION = "friction"
SCALE = "scale."


class _OfPlant(Kind):
    """Numbers of the true plant; `of` of a direction are their leaves."""

    def values(self, direction: Direction, value: float) -> dict[str, float]:
        """Path → new value."""
        raise NotImplementedError

    def moved(
        self, loop: System, scenario: Scenario, amounts: Mapping[Direction, float]
    ) -> tuple[System, Scenario]:
        new = {p: v for d, value in amounts.items() for p, v in self.values(d, value).items()}
        return ClosedLoop(exchanged(loop.plant, new), loop.controller), scenario

    def touches(self, direction: Direction) -> Sequence[str]:
        return [f"plant.{leaf.path}" for leaf in direction.of]

    def written(
        self, loop: System, scenario: Scenario, amounts: Mapping[Direction, float]
    ) -> dict[str, Any]:
        return {
            f"plant.{path}": value
            for d, amount in amounts.items()
            for path, value in self.values(d, amount).items()
        }

    def believed(self, loop: System, amounts: Mapping[Direction, float]) -> dict[str, float]:
        return {leaf.path: float(leaf.value) for d in amounts for leaf in d.of}


@final
@dataclass(frozen=True)
class Number(_OfPlant):
    """A number of the plant, or several that are equal."""

    def suits(self, name: str) -> bool:
        return True

    def named(self, loop: System, scenario: Scenario, name: str) -> tuple[Direction, ...]:
        known = _numbers(loop, name, name)
        values = {float(leaf.value) for leaf in known}
        if len(values) > 1:
            words = f"these are {len(known)} numbers of different values"
            mend = f"write {SCALE}{name} for one factor on all of them, or more of the path, such as {known[0].path}"
            raise refusal(name, words, mend)
        info = known[0].info
        ends = (info.bound.low, info.bound.high)
        return (
            Direction(name, 0.0, 0.0, values.pop(), info.unit, self, tuple(known), False, *ends),
        )

    def values(self, direction: Direction, value: float) -> dict[str, float]:
        return {leaf.path: value for leaf in direction.of}


@final
@dataclass(frozen=True)
class Scaled(_OfPlant):
    """Numbers of the plant, all times one factor, which is 1 in the case."""

    def suits(self, name: str) -> bool:
        return name == FRICTION or name.startswith(SCALE)

    def named(self, loop: System, scenario: Scenario, name: str) -> tuple[Direction, ...]:
        known = (
            forces_of_friction(loop.plant)
            if name == FRICTION
            else _numbers(loop, name, name.removeprefix(SCALE))
        )
        if not any(leaf.value for leaf in known):
            words = "nothing of the plant is there to be multiplied"
            mend = (
                "give the plant a law of friction" if name == FRICTION else "vary the number itself"
            )
            raise refusal(name, words, mend)
        return (
            Direction(
                name=name,
                low=0.0,
                high=0.0,
                nominal=1.0,
                unit="1",
                kind=self,
                of=tuple(known),
                whole=False,
                least=0.0,
            ),
        )

    def values(self, direction: Direction, value: float) -> dict[str, float]:
        return {leaf.path: float(leaf.value) * value for leaf in direction.of}


def _numbers(loop: System, name: str, path: str) -> list[Leaf]:
    """The numbers of the plant at the end of this path. Raises InputError with the name as key."""
    try:
        return numbers(loop.plant, path)
    except InputError as why:
        raise refusal(name, why.message, why.mend) from None


def forces_of_friction(plant: System) -> list[Leaf]:
    """Numbers of the laws of friction that a force, or a torque, is proportional to: all but speeds, times and shares."""
    return [
        leaf
        for leaf in leaves(plant)
        if FRICTION in leaf.path.split(".")[:-1] and leaf.info.unit.split()[0].split("/")[0] == "N"
    ]
