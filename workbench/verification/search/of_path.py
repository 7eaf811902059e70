"""The path may stray from the one that was asked for, by a spline: at a few instants, each component by itself.

    path    deviation of the reference at `knots` instants, evenly over the path; none at its begin and its end

No component moves faster than `speed`, by default 1.5 times as fast as the case's own path does, and the machine reaches all of
it: a deviation that breaks this is made smaller, all of it by one factor, until it does not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from workbench.contract.errors import InputError
from workbench.contract.system import System
from workbench.contract.units import format_quantity as say
from workbench.contract.units import quantity
from workbench.run.demand import Demand
from workbench.run.deviated import Deviated
from workbench.run.provenance import described
from workbench.run.scenario import Scenario
from workbench.run.start import start_state
from workbench.run.steps import Steps
from workbench.run.targets import width
from workbench.verification.search.direction import Direction, Kind, refusal

PATH = "path"
KNOTS = 3
FASTER = 1.5  # times the largest speed of the case's path, in each unit
LOOKED_AT = 400  # instants of a path
HALVINGS = 5  # halvings of the factor that brings a deviation back into reach


@final
@dataclass(frozen=True)
class Path(Kind):
    """A path that strays; `of` of a direction are (knot, component), counted from 0.

    knots   instants inside the path at which it strays
    speed   that no component exceeds; None: FASTER times that of the case's path
    times   s, of begin, knots and end;  limits  speed of each component, SI: known once a loop is
    """

    knots: int = KNOTS
    speed: str | float | None = None
    times: tuple[float, ...] = ()
    limits: tuple[float, ...] = ()

    def suits(self, name: str) -> bool:
        return name == PATH

    def named(self, loop: System, scenario: Scenario, name: str) -> tuple[Direction, ...]:
        if scenario.reference is None or isinstance(scenario.reference, Steps | Deviated):
            words = "the scenario has no path that a spline could be added to"
            raise refusal(name, words, "give it Waypoints, Sine, Hold or Spline as reference")
        demand = Demand(loop, scenario, start_state(loop, scenario))
        if demand.reference is None:
            raise refusal(name, "the law follows no reference", "remove the path")
        labels, units = _components(loop, demand)
        n = width(scenario.reference) or len(labels)
        end = min(scenario.reference.duration or math.inf, scenario.length())
        times = np.linspace(0.0, end, self.knots + 2)
        own = _speeds(demand.reference, times)
        limits = tuple(self._limit(units[i], own, units) for i in range(n))
        ready = replace(self, times=tuple(times.tolist()), limits=limits)
        return tuple(
            Direction(f"{PATH}.{labels[i]}@{t:.4g}s", 0.0, 0.0, 0.0, units[i], ready, (k, i))
            for k, t in enumerate(times[1:-1])
            for i in range(n)
        )

    def _limit(self, unit: str, own: np.ndarray, units: Sequence[str]) -> float:
        """Largest speed of a component of this unit."""
        fastest = max(v for v, u in zip(own, units) if u == unit)
        if self.speed is None:
            if not fastest > 0:
                mend = f"say how fast it may be: speed: 0.1 {unit}/s"
                raise refusal(PATH, "the case's path stands still", mend)
            return FASTER * float(fastest)
        try:
            limit = quantity(self.speed, f"{unit}/s")
        except InputError as why:
            raise InputError(f"speed: {why.message}", key="speed", mend=why.mend) from None
        if limit < fastest:
            seen = say(float(fastest), f"{unit}/s", 3)
            words = f"speed: the case's own path moves at {seen}, faster than {self.speed}"
            raise InputError(words, key="speed", mend="allow at least that")
        return limit

    def moved(
        self, loop: System, scenario: Scenario, amounts: Mapping[Direction, float]
    ) -> tuple[System, Scenario]:
        return loop, replace(scenario, reference=self.strayed(scenario, amounts))

    def strayed(self, scenario: Scenario, amounts: Mapping[Direction, float]) -> Deviated:
        """The reference that strays by these values."""
        values = np.zeros((len(self.times), len(self.limits)))
        for d, value in amounts.items():
            k, i = d.of
            values[k + 1, i] = value
        return Deviated(scenario.reference, self.times, tuple(map(tuple, values.tolist())))

    def touches(self, direction: Direction) -> Sequence[str]:
        return ["reference." + direction.name]

    def written(
        self, loop: System, scenario: Scenario, amounts: Mapping[Direction, float]
    ) -> dict[str, Any]:
        return {"scenario.reference": described(self.strayed(scenario, amounts))}

    def settled(
        self, loop: System, scenario: Scenario, amounts: Mapping[Direction, float]
    ) -> dict[Direction, float]:
        """The largest share of the deviations, to a part in 2^HALVINGS, that is within reach and speed."""
        x0 = start_state(loop, scenario)
        share = lambda s: {d: s * value for d, value in amounts.items()}
        possible = lambda s: self._possible(loop, scenario, share(s), x0)
        if possible(1.0):
            return dict(amounts)
        low, high = 0.0, 1.0
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if possible(middle) else (low, middle)
        return share(low)

    def _possible(self, loop: System, scenario: Scenario, amounts, x0) -> bool:
        """Whether the machine reaches this path, and no component is faster than it may be."""
        _, strayed = self.moved(loop, scenario, amounts)
        demand = Demand(loop, strayed, x0)
        speeds = _speeds(demand.reference, self.times)
        if (speeds[: len(self.limits)] > np.array(self.limits) * (1 + 1e-9)).any():
            return False
        try:
            demand.check(_instants(self.times))
        except InputError:
            return False
        return True


def _instants(times: Sequence[float]) -> np.ndarray:
    return np.linspace(times[0], times[-1], LOOKED_AT)


def _speeds(reference: Any, times: Sequence[float]) -> np.ndarray:
    """Largest speed of each component, (n,)."""
    return np.abs(reference.sample(_instants(times), 1)[1]).max(axis=0)


def _components(loop: System, demand: Demand) -> tuple[list[str], list[str]]:
    """(names, units) of the reference's components."""
    space = demand.reference.space
    if space == "output":
        labels = demand.components
        units = {s.name: s.unit for s in loop.plant.outputs}
        return labels, [units[name] for name in labels]
    labels = list(loop.plant.task_names(space))
    units = {s.name: s.unit for s in loop.plant.states}
    return labels, [units.get(name, "m") for name in labels]
