"""The outline of a mechanism: its bodies, pins and actuators."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from plants.multibody.mechanism import Mechanism
from reports.picture import Label, Outline, Picture, Stroke

MOUTH = 0.92  # share of the retracted length, how long a cylinder's case is drawn


def _cylinder(a, b, retracted: float) -> list[Stroke]:
    along = (b - a) / (np.linalg.norm(b - a) or 1.0)
    bottom = a + 0.06 * retracted * along
    mouth = a + MOUTH * retracted * along
    return [Stroke("rod", np.array([a, b])), Stroke("case", np.array([bottom, mouth]))]


# ---- mechanisms -------------------------------------------------------------------------------------------------------
def _mechanism(plant: Mechanism) -> Picture:
    start = [float(v) for v in plant.assembly.z]
    view, drawn = _view(plant, start)
    known = _points(plant)
    placed = _placed(plant, start, known, view)
    size = float(np.ptp(np.vstack(placed), axis=0).max()) or 1.0
    hulls = [_hull(points) for points in placed[:-1]]
    retracted = [a.span[0] if a.span[0] > -np.inf else None for a in plant.actuators]

    def at(q) -> Outline:
        return _posed(plant, list(map(float, q)), known, view, hulls, retracted)

    names = [s.name for s in plant.coordinates]
    return Picture(at, names, start, placed[-1], 0.03 * size, drawn, view)


def _points(plant) -> list[list]:
    """Per body, the ground last, its points in its own frame."""
    found = [[(0.0, 0.0, 0.0), b.com] for b in plant.bodies] + [[]]
    places = [(b.parent, b.point) for b in plant.bodies]
    places += [(p.body, p.point) for loop in plant.loops for p in (loop.a, loop.b)]
    places += [(p.body, p.point) for a in plant.actuators if a.a is not None for p in (a.a, a.b)]
    places += [(b.name, pin.point) for b in plant.bodies for pin in b.pins]
    if plant.tcp is not None:
        places.append((plant.tcp.body, plant.tcp.point))
    for body, point in places:
        found[plant.number(body)].append(point)  # the ground's number is −1
    return found


def _frames(plant, z) -> list[tuple[np.ndarray, np.ndarray]]:
    """(origin, rotation) of every body, the ground last."""
    motion = plant.moving(z, None)
    return [
        *(
            (np.array(r, float), np.array(R, float).reshape(3, 3))
            for r, R in zip(motion.r, motion.R)
        ),
        (np.zeros(3), np.eye(3)),
    ]


def _placed(plant, z, known, view) -> list[np.ndarray]:
    """`known` as drawn."""
    return [
        (r + np.array(points, float).reshape(-1, 3) @ R.T) @ view
        for (r, R), points in zip(_frames(plant, z), known)
    ]


def _posed(plant, z, known, view, hulls, retracted) -> Outline:
    frames = _frames(plant, z)
    placed = _placed(plant, z, known, view)
    strokes = []
    pins = []
    labels = []
    world = lambda place: (
        (
            frames[plant.number(place.body)][0]
            + frames[plant.number(place.body)][1] @ np.array(place.point)
        )
        @ view
    )
    for body, points, hull in zip(plant.bodies, placed, hulls):
        joint = world(_Place(body.parent, body.point))
        if body.joint == "prismatic":
            strokes.insert(0, Stroke("slide", np.array([joint, points[0]])))
        else:
            pins.append(joint)
        strokes.append(Stroke("plate" if len(hull) > 2 else "link", points[hull]))
        labels.append(Label(body.name, points[hull].mean(0)))
    pins += [world(loop.a) for loop in plant.loops if loop.joint != "prismatic"]
    for a, length in zip(plant.actuators, retracted):
        if a.a is None:
            continue
        one = world(a.a)
        other = world(a.b)
        strokes += (
            _cylinder(one, other, length) if length else [Stroke("rod", np.array([one, other]))]
        )
        pins += [one, other]
        labels.append(Label(a.name, 0.6 * one + 0.4 * other, "cylinder"))
    tip = None if plant.tcp is None else world(plant.tcp)
    return Outline(strokes, np.array(pins).reshape(-1, 2), tip, labels)


class _Place(NamedTuple):
    body: str
    point: tuple


def directions(plant: Mechanism) -> np.ndarray:
    """(3, 2): the directions in which x and y of a mechanism's drawing lie."""
    return _view(plant, [float(v) for v in plant.assembly.z])[0]


def _view(plant, z) -> tuple[np.ndarray, tuple[str, str]]:
    """(3, 2): the directions in which x and y of the drawing lie, and their names."""
    down = np.array(plant.gravity, float)
    up = -down / np.linalg.norm(down) if np.any(down) else np.array([0.0, 1.0, 0.0])
    to_us = _normal(plant, z, up)
    if to_us is not None:
        if abs(up @ to_us) > 0.99:  # seen from above, the first axis across goes to the right
            up = np.cross(to_us, np.eye(3)[int(abs(to_us[0]) > 0.9)])
    else:
        side = np.eye(3)[np.abs(up).argmin()]
        forth = np.cross(side, up)  # so that the first axis across up goes to the right
        to_us = 0.45 * up + 0.5 * side + 0.74 * forth
        to_us /= np.linalg.norm(to_us)
    up = up - (up @ to_us) * to_us
    up /= np.linalg.norm(up)
    view = np.array([np.cross(up, to_us), up]).T
    return view, tuple(_direction(v) for v in view.T)


def _normal(plant, z, up) -> np.ndarray | None:
    """The normal, towards us, of the one plane in which all bodies move; None where they move in space.

    Axes of revolute joints point along it. Without any, slides lie in the plane, one alone together with the direction up.
    """
    turns = _axes(plant, z, "revolute")
    slides = _axes(plant, z, "prismatic")
    if any(body.joint == "spherical" for body in plant.bodies) or not (turns or slides):
        return None
    if turns:
        first = turns[0]
        flat = all(np.linalg.norm(np.cross(first, axis)) < 1e-6 for axis in turns)
    else:
        crossed = [np.cross(slides[0], other) for other in (*slides[1:], up, *np.eye(3))]
        first = next(n / np.linalg.norm(n) for n in crossed if np.linalg.norm(n) > 1e-6)
        flat = all(abs(first @ axis) < 1e-6 for axis in slides)
    return first * np.sign(first[np.abs(first).argmax()]) if flat else None


def _axes(plant, z, joint: str) -> list[np.ndarray]:
    """Unit vectors along the axes of all joints of a kind, in the ground's frame."""
    frames = _frames(plant, z)
    axes = [(b.parent, np.array(b.axis)) for b in plant.bodies if b.joint == joint]
    return [frames[plant.number(parent)][1] @ axis / np.linalg.norm(axis) for parent, axis in axes]


def _direction(v) -> str:
    """'x, m' where v is an axis, 'm' else."""
    k = int(np.abs(v).argmax())
    return "m" if abs(v[k]) < 1 - 1e-9 else ("" if v[k] > 0 else "−") + f"{'xyz'[k]}, m"


def _hull(points) -> list[int]:
    """Numbers of the points on the convex hull, in order around it; the two ends of points in line."""
    order = [i for _, i in sorted({tuple(p): i for i, p in enumerate(points.tolist())}.items())]

    def across(o, a, b):
        (x, y), (v, w) = points[a] - points[o], points[b] - points[o]
        return x * w - y * v

    slack = 1e-9 * max(float(np.ptp(points, axis=0).max()), 1e-12) ** 2

    def half(indices):
        kept: list[int] = []
        for i in indices:
            while len(kept) > 1 and across(kept[-2], kept[-1], i) <= slack:
                kept.pop()
            kept.append(i)
        return kept[:-1]

    return half(order) + half(order[::-1]) or order[:1]
