"""Facts that a plant states about its machine: limits of quantities, static forces of drives, joints that no drive holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, Literal

import numpy as np

from workbench.contract.signals import Signal

Kind = Literal["flow", "stroke", "vacuum", "pressure", "force", "valve", "command"]


@dataclass(frozen=True)
class Limit:
    """One limit of a machine: the sum of `signals`, all of them logged, stays within low … high, in `unit`.

    kind     "flow" of the pump, "stroke" of a cylinder (or where a linkage is in line), "vacuum" in a chamber, "pressure" above
             what reliefs hold, "force" that a drive is made for, travel of a "valve", range of a "command"
    bearable True where the machine itself stays at the limit and goes on (a command that is cut, a spool at its stop): that
             costs performance for a while. False where the model describes no machine any more
    key      the plant's parameter (or the part) that the number comes from
    """

    name: str
    signals: tuple[str, ...]
    low: float = -inf
    high: float = inf
    unit: str = "1"
    kind: Kind = "stroke"
    meaning: str = ""
    key: str = ""
    bearable: bool = False

    def value(self, log: Any) -> np.ndarray:
        """What is limited, at every instant of the log."""
        return sum(log.array(name) for name in self.signals)


@dataclass(frozen=True)
class Holding:
    """The force that a drive `needs` to stand still at a state, and the range low … high [unit] that `limited_by` leaves it.

    key: the plant's parameter (or the part) to change where it cannot.
    """

    name: str
    needs: float
    low: float
    high: float
    unit: str = "N"
    limited_by: str = ""
    key: str = ""

    @property
    def room(self) -> float:
        """Distance to the nearer end, as a share of what the drive can give; below zero where it cannot hold."""
        return float(min(self.high - self.needs, self.needs - self.low) / (self.high - self.low))


@dataclass(frozen=True)
class FreeJoint:
    """A joint that no drive holds and no cut joint determines: a pole on a cart, a load on a hook.

    positions: its logged position, or the four numbers of a quaternion; rates: its logged rates. unit: rad or m.
    """

    name: str
    positions: tuple[Signal, ...]
    rates: tuple[Signal, ...]
    unit: str

    def away(self, positions: Mapping[str, np.ndarray], origin: Sequence[float]) -> np.ndarray:
        """How far from `origin` (as many numbers as positions), rad or m, ≥ 0.

        positions: logged signals by name. Of a spherical joint it is the angle 2 arccos |e·e_0| of the rotation between the two.
        """
        at = np.array([positions[s.name] for s in self.positions], float)
        if len(at) == 1:
            return np.abs(at[0] - origin[0])
        e_0 = np.asarray(origin, float)
        along = np.abs(e_0 @ at) / (np.linalg.norm(at, axis=0) * np.linalg.norm(e_0))
        return 2.0 * np.arccos(np.minimum(along, 1.0))


def command_limits(plant: Any) -> tuple[Limit, ...]:
    """Ranges of the commands, as `System.limits` has them."""
    units = {s.name: s.unit for s in plant.inputs}
    return tuple(
        Limit(
            name=f"command {name}",
            signals=(name,),
            low=low,
            high=high,
            unit=units[name],
            kind="command",
            meaning="range of the command",
            key=name,
            bearable=True,
        )
        for name, (low, high) in plant.limits().items()
    )


def force_limits(name: str, signal: str, most: float | None, key: str) -> tuple[Limit, ...]:
    """What a drive is made for, N both ways; none where it states nothing."""
    if most is None:
        return ()
    meaning = "what the drive is made for"
    return (Limit(name, (signal,), -most, most, "N", "force", meaning, key),)


def span_limits(plant: Any) -> tuple[Limit, ...]:
    """What cylinders can span, as the plant's `spans` have it: logged length → (least, largest)."""
    units = {s.name: s.unit for s in (*plant.states, *plant.monitors)}
    return tuple(
        Limit(
            name=f"length {name}",
            signals=(name,),
            low=low,
            high=high,
            unit=units[name],
            kind="stroke",
            meaning="what the cylinder can span",
            key=name,
        )
        for name, (low, high) in plant.spans.items()
    )


def chamber_limits(names: Any, low: float, high: float = inf, key: str = "") -> tuple[Limit, ...]:
    """Pressures of chambers, Pa: above `low`, which is vacuum (or the tank less what checks need), and below `high`."""
    found = []
    for name in names:
        found.append(
            Limit(
                name=f"vacuum in {name}",
                signals=(name,),
                low=low,
                high=inf,
                unit="Pa",
                kind="vacuum",
                meaning="no oil pulls",
                key=key or name,
            )
        )
        if high < inf:
            found.append(
                Limit(
                    name=f"pressure {name}",
                    signals=(name,),
                    low=-inf,
                    high=high,
                    unit="Pa",
                    kind="pressure",
                    meaning="what reliefs let stand",
                    key=key or name,
                )
            )
    return tuple(found)
