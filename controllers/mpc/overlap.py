"""What the model of a predictive controller leaves out: overlap of valves, and the steepest part of friction.

The controller predicts openings of valves; the overlap is added to its commands:

    u = v + u_d clip(v/w, −1, 1),   v in [u_min + u_d, u_max − u_d]

Inside its overlap a valve has no gain: a linearisation there says that commands do nothing. So the model is the plant without
overlap, its valves shut at v = 0 and fully open at v = u_max − u_d. What this leaves out: a spool needs time to cross the
overlap, and below |v| = w only a part of it is made up for (w = 0 would make the command jump by 2 u_d with every change of sign).

Coulomb friction that changes its sign within a millimetre per second is a jump between two points of a predicted path; linearised
there it is either missing or a wall, and the path swings from one to the other. So along a path friction changes its sign over a
range of speeds of at least `smooth`; the observer estimates what this leaves out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.contract.parameters import bind, leaves
from workbench.contract.system import controls


@dataclass(frozen=True, eq=False)
class Overlap:
    """u_d of every command, and the width w, V."""

    u_d: np.ndarray
    w: float

    def __bool__(self) -> bool:
        return bool(self.u_d.any())

    def command(self, v: np.ndarray) -> np.ndarray:
        """u for the openings v."""
        return v + self.u_d * np.clip(v / self.w, -1.0, 1.0)


def overlap(plant, w: float) -> Overlap:
    """Overlap of the plant's valves, in the order of its commands; 0 for a plant without valves."""
    cylinders = plant.cylinders
    none = [0.0] * len(controls(plant))
    return Overlap(np.array([c.valve.dead_band for c in cylinders] or none), w)


def without_overlap(plant):
    """The plant with valves that open at once, as far as before."""
    if not overlap(plant, 1.0):
        return plant
    numbers = {leaf.path: leaf.value for leaf in leaves(plant)}
    bands = {
        path.removesuffix("dead_band"): value
        for path, value in numbers.items()
        if path.endswith("valve.dead_band")
    }
    return bind(
        plant,
        {f"{at}dead_band": 0.0 for at in bands}
        | {f"{at}u_max": numbers[f"{at}u_max"] - value for at, value in bands.items()},
    )


def smoothed(plant, speed: float):
    """The plant with friction that changes its sign over a range of at least `speed`, m/s."""
    steep = {
        leaf.path
        for leaf in leaves(plant)
        if leaf.path.endswith("friction.width") and leaf.value < speed
    }
    return bind(plant, dict.fromkeys(steep, speed)) if steep else plant
