"""What may vary between law and machine.

delay    dead time from sample to valve
noise    standard deviation of the noise on what is measured, where the loop has one noise
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

from workbench.contract.closed_loop import ClosedLoop
from workbench.contract.system import Controller, System
from workbench.contract.wrappers import Delayed, Noisy, dead_time
from workbench.run.scenario import Scenario
from workbench.verification.search.direction import Direction, Kind, refusal

DELAY = "delay"
NOISE = "noise"


@final
@dataclass(frozen=True)
class Delay(Kind):
    """The dead time of the loop."""

    def suits(self, name: str) -> bool:
        return name == DELAY

    def named(self, loop: System, scenario: Scenario, name: str) -> tuple[Direction, ...]:
        if loop.period is None:
            words = "the law is continuous, and a continuous delay has no finite state"
            raise refusal(name, words, "give the loop a sample_time, like 1 ms")
        known = dead_time(loop.controller)
        return (
            Direction(
                name=name,
                low=0.0,
                high=0.0,
                nominal=known,
                unit="s",
                kind=self,
                of=(),
                whole=False,
                least=0.0,
            ),
        )

    def moved(
        self, loop: System, scenario: Scenario, amounts: Mapping[Direction, float]
    ) -> tuple[System, Scenario]:
        (delay,) = amounts.values()
        law = loop.controller.inner if isinstance(loop.controller, Delayed) else loop.controller
        late = Delayed(law, delay) if delay > 0 else law
        return ClosedLoop(loop.plant, late), scenario

    def touches(self, direction: Direction) -> Sequence[str]:
        return [DELAY]

    def written(
        self, loop: System, scenario: Scenario, amounts: Mapping[Direction, float]
    ) -> dict[str, Any]:
        (delay,) = amounts.values()
        return {"loop.delay": delay}


@final
@dataclass(frozen=True)
class Noise(Kind):
    """How strong the loop's noise is."""

    def suits(self, name: str) -> bool:
        return name == NOISE

    def named(self, loop: System, scenario: Scenario, name: str) -> tuple[Direction, ...]:
        known = _noises(loop.controller)
        if len(known) != 1:
            words = f"this loop has {len(known) or 'no'} noises, and one can be varied"
            raise refusal(name, words, "write loop: {noise: {σ: …, signals: […]}}")
        units = {s.unit for s in known[0].measured if _meant(known[0], s.name)}
        if len(units) > 1:
            words = f"it is on signals of different units ({', '.join(sorted(units))})"
            raise refusal(name, words, "name signals of one unit in the noise of the loop")
        σ = float(known[0].σ)
        return (
            Direction(
                name=name,
                low=0.0,
                high=0.0,
                nominal=σ,
                unit=units.pop(),
                kind=self,
                of=(),
                whole=False,
                least=0.0,
            ),
        )

    def moved(
        self, loop: System, scenario: Scenario, amounts: Mapping[Direction, float]
    ) -> tuple[System, Scenario]:
        (σ,) = amounts.values()
        return ClosedLoop(loop.plant, _noisier(loop.controller, σ)), scenario

    def touches(self, direction: Direction) -> Sequence[str]:
        return [NOISE]

    def written(
        self, loop: System, scenario: Scenario, amounts: Mapping[Direction, float]
    ) -> dict[str, Any]:
        (noise,) = _noises(loop.controller)
        (σ,) = amounts.values()
        return {"loop.noise": {"σ": σ, "signals": list(noise.signals)}}


def _noises(controller: Any) -> list[Noisy]:
    """The noises around the law, from the outside in."""
    found = []
    while isinstance(controller, Controller) and controller.inner is not None:
        if isinstance(controller, Noisy):
            found.append(controller)
        controller = controller.inner
    return found


def _meant(noise: Noisy, name: str) -> bool:
    chosen = noise.signals
    return not chosen or any(name == one or name.startswith(f"{one}_") for one in chosen)


def _noisier(controller: Any, σ: float) -> Any:
    """The controller with σ in the noise that it has."""
    if isinstance(controller, Noisy):
        return replace(controller, σ=σ)
    return replace(controller, inner=_noisier(controller.inner, σ))
