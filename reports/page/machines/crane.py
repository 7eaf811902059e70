"""Manipulators: per structure the base of its arm, the arm, the boom that slides out of it, the cylinder that lifts it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from reports.page.machines.scene import Machine3, Posed, Ram, Solid
from workbench.run.log import Log

OUTER = 0.85  # share of the retracted boom: how much of it the section around it covers
INNER = 0.9  # as thick as that section


class Fixed(NamedTuple):
    """A solid and the frame of its structure that it moves with."""

    solid: Solid
    frame: str


def crane(plant: Any, log: Log) -> Machine3 | None:
    """A crane of closed-chain structures, whatever drives it; None for other plants."""
    plant = plant.drawn_as
    if not plant.structures:
        return None
    start = [float(v) for v in plant.initial()[: plant.n]]
    drawn_in = [0.0 if s.slides else v for s, v in zip(plant.segments, start)]
    made = [_solids(s, f) for s, f in zip(plant.structures, plant.frames(drawn_in))]
    rams = [Ram(s.revolute.name, "cylinder", float(s.revolute.x0)) for s in plant.structures]

    def at(q) -> Posed:
        return _posed(made, plant.frames(list(q)))

    solids = [part.solid for parts in made for part in parts]
    ground = np.array([plant.base.r], float)
    return Machine3(solids, rams, at, list(plant.joint_names), start, ground)


def _solids(structure, frames) -> list[Fixed]:
    """What is rigid in a structure, seen with its boom drawn in."""
    name = structure.revolute.name
    found = [
        Fixed(Solid(f"{name} base", _seen(frames, "B0", "B0", "B1"), "bar"), "B0"),
        Fixed(Solid(name, _seen(frames, "B1", "B1", "Tc", "E1")), "B1"),
    ]
    if structure.prismatic is None:
        return found
    boom = structure.prismatic.name
    begin, end = _seen(frames, "E1", "E1", "P3")
    covered = np.array([begin, begin + OUTER * (end - begin)])
    sliding = _seen(frames, "P3", "B5", "P3", "E2")
    return [
        *found,
        Fixed(Solid(f"{boom} case", covered, "tube"), "E1"),
        Fixed(Solid(boom, sliding, "bar"), "P3"),
    ]


def _seen(frames, own: str, *names: str) -> np.ndarray:
    """Origins of frames, in the frame `own`."""
    origin, turned = placed(frames[own])
    return np.array([np.array(frames[n].r, float) - origin for n in names]) @ turned


def placed(frame) -> tuple[np.ndarray, np.ndarray]:
    """(origin, rotation) of a Frame."""
    return np.array(frame.r, float), np.array(frame.R, float).reshape(3, 3)


def _posed(made: list[list[Fixed]], frames) -> Posed:
    solids = [placed(own[part.frame]) for parts, own in zip(made, frames) for part in parts]
    point = lambda own, name: np.array(own[name].r, float)
    ends = [np.array([point(own, "B0"), point(own, "Tc")]) for own in frames]
    pins = np.array([point(own, name) for own in frames for name in ("B0", "B1", "Tc")])
    last = frames[-1]
    return Posed(solids, ends, pins, point(last, "E2" if "E2" in last else "E1"))
