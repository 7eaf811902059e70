"""What may vary of the scenario.

offset.q_1, offset.p_a1    how far a state begins from where the scenario begins
start                      the same for every position, each by itself
disturbance.f_Dy           a disturbance that stays the same during the run
reference.leg              a number of the reference
seed                       whole numbers, of the noise
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, final

from workbench.cases.edit import exchanged
from workbench.contract.capabilities import Posed, Varies
from workbench.contract.parameters import leaves
from workbench.contract.system import System
from workbench.run.provenance import described
from workbench.run.scenario import Scenario
from workbench.verification.search.direction import Direction, Kind, nearest, refusal

MOST_SEED = 2**31 - 1
OFFSET = "offset."
START = "start"
DISTURBANCE = "disturbance."
REFERENCE = "reference."
SEED = "seed"


@final
@dataclass(frozen=True)
class Offset(Kind):
    """States that begin elsewhere; `of` of a direction is the state's name."""

    def suits(self, name: str) -> bool:
        return name == START or name.startswith(OFFSET)

    def named(self, loop: System, scenario: Scenario, name: str) -> tuple[Direction, ...]:
        states = {s.name: s.unit for s in loop.plant.states}
        if name == START:
            posed = isinstance(loop.plant, Posed)
            chosen = list(posed and loop.plant.position_names or states)
        else:
            chosen = [name.removeprefix(OFFSET)]
        unknown = next((state for state in chosen if state not in states), None)
        if unknown is not None:
            mend = nearest(unknown, states)
            raise refusal(name, f"there is no state {unknown!r}", mend)
        return tuple(
            Direction(
                f"{OFFSET}{state}",
                0.0,
                0.0,
                float(scenario.offset.get(state, 0.0)),
                states[state],
                self,
                (state,),
            )
            for state in chosen
        )

    def moved(
        self, loop: System, scenario: Scenario, amounts: Mapping[Direction, float]
    ) -> tuple[System, Scenario]:
        offset = {d.of[0]: value for d, value in amounts.items()}
        return loop, replace(scenario, offset={**scenario.offset, **offset})

    def touches(self, direction: Direction) -> Sequence[str]:
        return [f"{OFFSET}{direction.of[0]}"]

    def written(
        self, loop: System, scenario: Scenario, amounts: Mapping[Direction, float]
    ) -> dict[str, Any]:
        return {f"scenario.{OFFSET}{d.of[0]}": value for d, value in amounts.items()}


@final
@dataclass(frozen=True)
class Disturbance(Kind):
    """Disturbances that stay the same during the run; `of` of a direction is the input's name."""

    def suits(self, name: str) -> bool:
        return name.startswith(DISTURBANCE)

    def named(self, loop: System, scenario: Scenario, name: str) -> tuple[Direction, ...]:
        wanted = name.removeprefix(DISTURBANCE)
        known = {s.name: s.unit for s in loop.inputs if s.kind == "disturbance"}
        if wanted not in known:
            mend = nearest(wanted, known) if known else "remove it: this plant has none"
            raise refusal(name, f"there is no disturbance {wanted!r}", mend)
        given = scenario.disturbances.get(wanted, loop.defaults().get(wanted, 0.0))
        if isinstance(given, Varies):
            words = "the scenario gives it as a function of time"
            raise refusal(name, words, "vary one that is constant in the scenario")
        return (Direction(name, 0.0, 0.0, float(given), known[wanted], self, (wanted,)),)

    def moved(
        self, loop: System, scenario: Scenario, amounts: Mapping[Direction, float]
    ) -> tuple[System, Scenario]:
        given = {d.of[0]: value for d, value in amounts.items()}
        return loop, replace(scenario, disturbances={**scenario.disturbances, **given})

    def touches(self, direction: Direction) -> Sequence[str]:
        return [direction.name]

    def written(
        self, loop: System, scenario: Scenario, amounts: Mapping[Direction, float]
    ) -> dict[str, Any]:
        return {f"scenario.disturbances.{d.of[0]}": value for d, value in amounts.items()}


@final
@dataclass(frozen=True)
class OfReference(Kind):
    """Numbers of the reference; `of` of a direction is the number's path there."""

    def suits(self, name: str) -> bool:
        return name.startswith(REFERENCE)

    def named(self, loop: System, scenario: Scenario, name: str) -> tuple[Direction, ...]:
        wanted = name.removeprefix(REFERENCE)
        known = {leaf.path: leaf for leaf in leaves(scenario.reference)}
        if wanted not in known:
            what = type(scenario.reference).__name__ if scenario.reference else "nothing"
            mend = nearest(wanted, known) if known else "state a reference with such a number"
            raise refusal(name, f"the reference ({what}) has no number {wanted!r}", mend)
        leaf = known[wanted]
        ends = (leaf.info.bound.low, leaf.info.bound.high)
        one = Direction(name, 0.0, 0.0, float(leaf.value), leaf.info.unit, self, (wanted,))
        return (replace(one, least=ends[0], most=ends[1]),)

    def moved(
        self, loop: System, scenario: Scenario, amounts: Mapping[Direction, float]
    ) -> tuple[System, Scenario]:
        numbers = {d.of[0]: value for d, value in amounts.items()}
        return loop, replace(scenario, reference=exchanged(scenario.reference, numbers))

    def touches(self, direction: Direction) -> Sequence[str]:
        return [direction.name]

    def written(
        self, loop: System, scenario: Scenario, amounts: Mapping[Direction, float]
    ) -> dict[str, Any]:
        _, other = self.moved(loop, scenario, amounts)
        return {"scenario.reference": described(other.reference)}


@final
@dataclass(frozen=True)
class Seed(Kind):
    """The seed of the noise."""

    named_only: ClassVar[bool] = True

    def suits(self, name: str) -> bool:
        return name == SEED

    def named(self, loop: System, scenario: Scenario, name: str) -> tuple[Direction, ...]:
        if not any(s.kind == "noise" for s in loop.inputs):
            words = "nothing in this loop draws noise, so that its seed changes nothing"
            raise refusal(name, words, "write loop: {noise: {σ: …}}, or remove the seed")
        seed = float(scenario.seed)
        return (
            Direction(
                name=name,
                low=0.0,
                high=0.0,
                nominal=seed,
                unit="1",
                kind=self,
                of=(),
                whole=True,
                least=0.0,
                most=MOST_SEED,
            ),
        )

    def moved(
        self, loop: System, scenario: Scenario, amounts: Mapping[Direction, float]
    ) -> tuple[System, Scenario]:
        (seed,) = amounts.values()
        return loop, replace(scenario, seed=int(seed))

    def touches(self, direction: Direction) -> Sequence[str]:
        return [SEED]

    def written(
        self, loop: System, scenario: Scenario, amounts: Mapping[Direction, float]
    ) -> dict[str, Any]:
        (seed,) = amounts.values()
        return {"scenario.seed": int(seed)}
