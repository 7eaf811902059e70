"""What a machine is made of for a page that moves: rigid solids, rams between two points, where it stands.

Shapes are those that are known: pins, joints and centres of mass of bodies, ends of cylinders. Thicknesses are the page's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from workbench.run.log import Log

NONE = np.zeros((0, 3))


class Solid(NamedTuple):
    """A rigid body by points (n, 3) m in its own frame; kind "plate": around all of them, "bar": along them in this order,
    "tube": along them, hollow, what slides inside shows, "block": a box around them."""

    name: str
    points: np.ndarray
    kind: Literal["plate", "bar", "tube", "block"] = "plate"


class Ram(NamedTuple):
    """What lies between two points and changes its length; kind "cylinder" with its length when retracted, "rod" or "slide".

    retracted: m. bore: how thick its case is drawn, m; 0: as suits the machine.
    """

    name: str
    kind: Literal["cylinder", "rod", "slide"] = "cylinder"
    retracted: float = 0.0
    bore: float = 0.0


class Posed(NamedTuple):
    """One pose: (origin (3,), rotation (3, 3)) of every solid, (2, 3) ends of every ram, pins (k, 3), the tool's point or None."""

    frames: list[tuple[np.ndarray, np.ndarray]]
    ends: list[np.ndarray]
    pins: np.ndarray
    tip: np.ndarray | None


class Machine3(NamedTuple):
    """A machine in space: `at(q)` for values of the logged signals `names`, `start` among them.

    axis: along its joints, towards who looks at it from the side; up: against gravity; stands: points (k, 3) on the ground.
    view: from where it is seen first.
    """

    solids: list[Solid]
    rams: list[Ram]
    at: Callable[[Sequence[float]], Posed]
    names: list[str]
    start: list[float]
    stands: np.ndarray = NONE
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    up: tuple[float, float, float] = (0.0, 1.0, 0.0)
    view: Literal["oblique", "side"] = "oblique"

    def positions(self, log: Log | None) -> np.ndarray:
        """(N, n) values of `names` along a run; the start alone where they are not logged."""
        if log is None or any(name not in log for name in self.names):
            return np.array([self.start], float)
        return np.stack([log.array(name) for name in self.names], 1)
