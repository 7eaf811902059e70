"""Mechanisms written out body by body: each body the plate around all that is known of it, each actuator between its pins."""

from __future__ import annotations

from typing import Any

import numpy as np

from plants.multibody.mechanism import Mechanism
from reports.outline_mechanism import _frames, _points, directions
from reports.page.machines.scene import Machine3, Posed, Ram, Solid
from workbench.run.log import Log


def mechanism(plant: Any, log: Log) -> Machine3 | None:
    """A `Mechanism` in space; None for other plants."""
    if not isinstance(plant, Mechanism):
        return None
    start = [float(v) for v in plant.assembly.z]
    known = [np.array(points, float).reshape(-1, 3) for points in _points(plant)]
    right, up = directions(plant).T
    return Machine3(
        solids=[
            Solid(body.name, np.unique(points, axis=0)) for body, points in zip(plant.bodies, known)
        ],
        rams=[*_sliding(plant), *_actuators(plant)],
        at=lambda q: _posed(plant, [float(v) for v in q]),
        names=[s.name for s in plant.coordinates],
        start=start,
        stands=known[-1],
        axis=tuple(np.cross(right, up)),
        up=tuple(_upwards(plant, up)),
    )


def _upwards(plant: Mechanism, drawn: np.ndarray) -> np.ndarray:
    """Against gravity; as it is drawn where there is none, or none across the view."""
    down = np.array(plant.gravity, float)
    size = np.linalg.norm(down)
    return -down / size if size else drawn


def _sliding(plant: Mechanism) -> list[Ram]:
    return [Ram(b.name, "slide") for b in plant.bodies if b.joint == "prismatic"]


def _actuators(plant: Mechanism) -> list[Ram]:
    """What pushes between two points."""
    between = [a for a in plant.actuators if a.a is not None]
    closed = [float(a.span[0]) if np.isfinite(a.span[0]) else 0.0 for a in between]
    return [Ram(a.name, "cylinder" if s else "rod", s) for a, s in zip(between, closed)]


def _posed(plant: Mechanism, z: list[float]) -> Posed:
    frames = _frames(plant, z)

    def world(body: str, point) -> np.ndarray:
        origin, turned = frames[plant.number(body)]  # the ground's number is −1
        return origin + turned @ np.array(point, float)

    joints = [world(b.parent, b.point) for b in plant.bodies]
    slides = [
        np.array([joint, frames[i][0]])
        for i, (b, joint) in enumerate(zip(plant.bodies, joints))
        if b.joint == "prismatic"
    ]
    between = [a for a in plant.actuators if a.a is not None]
    pushed = [np.array([world(p.body, p.point) for p in (a.a, a.b)]) for a in between]
    pins = [p for b, p in zip(plant.bodies, joints) if b.joint != "prismatic"]
    pins += [world(loop.a.body, loop.a.point) for loop in plant.loops if loop.joint != "prismatic"]
    pins += [end for ends in pushed for end in ends]
    tip = None if plant.tcp is None else world(plant.tcp.body, plant.tcp.point)
    return Posed(frames[:-1], [*slides, *pushed], np.array(pins).reshape(-1, 3), tip)
