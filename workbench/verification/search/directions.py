"""What a search may vary: numbers of the true plant, the start, the seed of the noise. The controller keeps what it believes.

A direction is a name and a range. Names are those of a case file:

    payload.mass, valve.frequency      every number of the plant whose path ends so; all of them take the same value
    offset.q_1, offset.p_a1            how far a state begins from where the scenario begins
    seed                               whole numbers, of the scenario's noise
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.contract.errors import InputError
from workbench.contract.parameters import bind
from workbench.contract.system import ClosedLoop, System
from workbench.contract.units import quantity
from workbench.run.scenario import Scenario
from workbench.verification.probability.draws import numbers

OFFSET = "offset."
SEED = "seed"
MOST_SEED = 2**31 - 1


@dataclass(frozen=True)
class Direction:
    """One thing that may vary: its name, its range, and its value in the run that is asked about (SI).

    paths   of the numbers of the plant that it moves; empty for offsets and the seed
    """

    name: str
    low: float
    high: float
    nominal: float
    unit: str
    paths: tuple[str, ...] = ()

    def at(self, place: float) -> float:
        """The value at a place from −1 (low) by 0 (nominal) to 1 (high)."""
        end = self.high if place > 0 else self.low
        value = self.nominal + min(1.0, abs(place)) * (end - self.nominal)
        return float(round(value)) if self.name == SEED else float(value)


def directions(
    loop: System, scenario: Scenario, over: Mapping[str, Sequence]
) -> tuple[Direction, ...]:
    """The directions of `over`, name → (low, high). Raises InputError for names and ranges that are none."""
    if not over:
        raise InputError(
            "over: nothing may vary",
            key="over",
            mend="write for example payload.mass: [0 kg, 80 kg]",
        )
    return tuple(_direction(loop, scenario, name, ends) for name, ends in over.items())


def check_names(loop: System, over: Mapping[str, Sequence]) -> None:
    """InputError for a name of `over` that is nothing of this loop."""
    for name in over:
        _named(loop, Scenario(), name)


def _direction(loop: System, scenario: Scenario, name: str, ends: Sequence) -> Direction:
    return _within(_named(loop, scenario, name), ends)


def _named(loop: System, scenario: Scenario, name: str) -> Direction:
    """What the name stands for, without a range."""
    if name == SEED:
        return Direction(name, 0.0, MOST_SEED, float(scenario.seed), "1")
    if name.startswith(OFFSET):
        return _offset(loop, scenario, name)
    return _number(loop, name)


def _offset(loop: System, scenario: Scenario, name: str) -> Direction:
    state = name.removeprefix(OFFSET)
    known = {s.name: s.unit for s in loop.plant.states}
    if state not in known:
        near = difflib.get_close_matches(state, known, 3) or list(known)[:4]
        raise InputError(
            f"over: there is no state {state!r}", key=name, mend=f"choose from {', '.join(near)}"
        )
    return Direction(name, 0.0, 0.0, float(scenario.offset.get(state, 0.0)), known[state])


def _number(loop: System, name: str) -> Direction:
    found = numbers(loop.plant, name)
    values = {float(leaf.value) for leaf in found}
    if len(values) > 1:
        raise InputError(
            f"over: {name} is {len(found)} numbers of different values",
            key=name,
            mend=f"write more of the path, such as {found[0].path}",
        )
    paths = tuple(leaf.path for leaf in found)
    return Direction(name, 0.0, 0.0, values.pop(), found[0].info.unit, paths)


def _within(direction: Direction, ends: Sequence) -> Direction:
    """The direction with its range, in SI."""
    if isinstance(ends, str) or len(ends) != 2:
        raise InputError(
            f"over: {direction.name}: expected a range of two values, got {ends!r}",
            key=direction.name,
            mend="write [low, high]",
        )
    try:
        low, high = (float(quantity(end, direction.unit)) for end in ends)
    except InputError as why:
        raise InputError(
            f"over: {direction.name}: {why.message}", key=direction.name, mend=why.mend
        ) from None
    if not low < high:
        raise InputError(
            f"over: {direction.name}: the range {ends[0]} … {ends[1]} has no width",
            key=direction.name,
            mend="write the smaller value first",
        )
    if not low <= direction.nominal <= high:
        raise InputError(
            f"over: {direction.name} is {direction.nominal:g} {direction.unit} in the case, outside {ends[0]} … {ends[1]}",
            key=direction.name,
            mend="let the range hold the value of the case",
        )
    return replace(direction, low=low, high=high)


def moved(
    loop: System, scenario: Scenario, amounts: Mapping[Direction, float]
) -> tuple[System, Scenario]:
    """The loop and the scenario with these values; the controller is the one that was.

    Raises InputError for a machine that cannot be built so.
    """
    numbers = {path: value for d, value in amounts.items() for path in d.paths}
    offset = {
        d.name.removeprefix(OFFSET): value
        for d, value in amounts.items()
        if d.name.startswith(OFFSET)
    }
    seeds = [int(value) for d, value in amounts.items() if d.name == SEED]
    if numbers:
        loop = ClosedLoop(bind(loop.plant, numbers), loop.controller)
    if offset:
        scenario = replace(scenario, offset={**scenario.offset, **offset})
    return loop, replace(scenario, seed=seeds[0]) if seeds else scenario
