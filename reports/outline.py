"""What a machine looks like: its bodies and cylinders as lines in the plane, for a sketch (`sketch`) or to be moved (`animation`).

Manipulators, four-bars and arms behind valves are drawn in x, y; arms side by side, each on ground of its own. A `Mechanism` is
seen along the common axis of its revolute joints, gravity downwards, or obliquely from above where they have none; a body is the
hull of all that is known of it: joint, centre of mass, what hangs on it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from plants.four_bar import FourBar
from plants.metered_arms import MeteredArms
from plants.metered_crane import MeteredCrane
from plants.metered_twin import MeteredTwin
from plants.multibody.mechanism import Mechanism
from reports.picture import Label, Outline, Picture, Stroke

MOTOR = np.stack(
    [
        np.cos(np.linspace(0, 2 * np.pi, 24, endpoint=False)),
        np.sin(np.linspace(0, 2 * np.pi, 24, endpoint=False)),
    ],
    1,
)
MOUTH = 0.92  # of the retracted length, how long a cylinder's case is drawn


def picture(plant: Any) -> Picture | None:
    """How `plant` is drawn; None for a plant that looks like nothing."""
    if isinstance(plant, FourBar):
        return _four_bar(plant)
    if isinstance(plant, Mechanism):
        return _mechanism(plant)
    if isinstance(plant, (MeteredArms, MeteredTwin)):
        return _arms(plant.of if isinstance(plant, MeteredTwin) else plant)
    if isinstance(plant, MeteredCrane):
        return picture(plant.crane)
    if plant.structures:
        return Picture(
            lambda q: _manipulator(plant, q),
            list(plant.joint_names),
            [float(v) for v in plant.initial()[: plant.n]],
            np.array([plant.base.r[:2]], float),
            0.25,
        )
    return None


def _cylinder(a, b, retracted: float) -> list[Stroke]:
    along = (b - a) / (np.linalg.norm(b - a) or 1.0)
    bottom, mouth = a + 0.06 * retracted * along, a + MOUTH * retracted * along
    return [Stroke("rod", np.array([a, b])), Stroke("case", np.array([bottom, mouth]))]


# ---- manipulators -----------------------------------------------------------------------------------------------------
def poses(plant, q) -> list[dict[str, np.ndarray]]:
    """Per structure the points to draw, metres in W: frame name → (x, y, z)."""
    from plants.chain import reach

    found = reach(plant.structures, plant.geometry(list(q)), plant.base.R, plant.base.r)
    return [{name: np.array(frame.r, float) for name, frame in row.items()} for row in found]


def _manipulator(plant, q) -> Outline:
    strokes, pins, labels = [], [], []
    for structure, frames in zip(plant.structures, poses(plant, q)):
        r, p = structure.revolute, {name: at[:2] for name, at in frames.items()}
        strokes += [
            Stroke("link", np.array([p["B0"], p["B1"]])),
            Stroke("link", np.array([p["B1"], p["Tc"], p["E1"]])),
            *_cylinder(p["B0"], p["Tc"], r.x0),
        ]
        pins += [p["B0"], p["B1"], p["Tc"]]
        along = p["Tc"] - p["B0"]
        labels.append(
            Label(r.name, p["B0"] + 0.5 * MOUTH * r.x0 * along / np.linalg.norm(along), "cylinder")
        )
        tip = p["E1"]
        if structure.prismatic is not None:
            strokes += [
                Stroke("link", np.array([p["E1"], p["B5"], p["P3"]])),
                Stroke("slide", np.array([p["P3"], p["E2"]])),
                Stroke("tube", np.array([p["E1"], 0.5 * (p["E1"] + p["P3"])])),
            ]
            labels.append(
                Label(structure.prismatic.name, 0.75 * p["E1"] + 0.25 * p["P3"], "cylinder")
            )
            tip = p["E2"]
    return Outline(strokes, np.array(pins), tip, labels)


# ---- the four-bar -----------------------------------------------------------------------------------------------------
def _four_bar(plant: FourBar) -> Picture:
    A, E, G = np.zeros(2), np.array([plant.L_0, 0.0]), np.array([-plant.x_G, 0.0])
    retracted = plant.circuit.range[0]
    ahead = lambda a, length: length * np.array([np.cos(a), np.sin(a)])

    def at(q) -> Outline:
        z_1 = float(q[0])
        B = ahead(z_1, plant.L_1)
        C, F = B + ahead(float(plant.pose(z_1).a_2), plant.L_2), ahead(z_1, plant.x_F)
        bars = {"crank": (A, B), "coupler": (B, C), "rocker": (C, E)}
        labels = [Label(name, 0.5 * (a + b)) for name, (a, b) in bars.items()]
        labels.append(Label(plant.circuit.name, 0.6 * G + 0.4 * F, "cylinder"))
        return Outline(
            [
                *(Stroke("link", np.array([a, b])) for a, b in bars.values()),
                *_cylinder(G, F, retracted),
            ],
            np.array([A, B, C, E, G, F]),
            None,
            labels,
        )

    return Picture(at, ["z_1"], [float(plant.z_10)], np.array([A, E, G]), 0.03 * plant.L_0)


# ---- arms behind valves -----------------------------------------------------------------------------------------------
def _arms(plant: MeteredArms) -> Picture:
    ahead = [
        1.1 * a.L_f if a.turns else 1.1 * max(a.L_f, a.L_m) + max(0.0, -a.r_bx) for a in plant.arms
    ]
    joints = [np.array([float(sum(ahead[:j])), 0.0]) for j in range(len(plant.arms))]
    bases = [O if a.turns else O + (a.r_bx, a.r_by) for O, a in zip(joints, plant.arms)]

    def at(q) -> Outline:
        strokes, pins, labels = [], [], []
        for a, O, base, θ in zip(plant.arms, joints, bases, map(float, q)):
            tip = O + a.L_f * np.array([np.cos(θ), np.sin(θ)])
            if a.turns:
                strokes += [
                    Stroke("link", np.array([O, tip])),
                    Stroke("plate", O + 0.09 * a.L_f * MOTOR),
                ]
                pins.append(O)
                labels.append(Label(f"arm {a.name}", 0.6 * tip + 0.4 * O))
                continue
            pin = O + a.pin(θ)[:2]
            retracted = max(abs(np.hypot(*(base - O)) - a.L_m), 0.6 * a.length(a.θ_0))
            strokes += [
                Stroke("plate", np.array([pin, tip, O])),
                *_cylinder(base, pin, min(retracted, 0.95 * a.length(θ))),
            ]
            pins += [O, pin, base]
            labels.append(Label(f"arm {a.name}", 0.6 * tip + 0.4 * pin))
        return Outline(strokes, np.array(pins), None, labels)

    return Picture(
        at,
        [f"θ_{n}" for n in plant.names],
        [float(a.θ_0) for a in plant.arms],
        np.array([*joints, *bases]),
        0.15,
    )


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

    return Picture(at, [s.name for s in plant.coordinates], start, placed[-1], 0.03 * size, drawn)


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
    frames, placed, strokes, pins, labels = (
        _frames(plant, z),
        _placed(plant, z, known, view),
        [],
        [],
        [],
    )
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
        one, other = world(a.a), world(a.b)
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
    frames = _frames(plant, z)
    axes = [
        frames[plant.number(b.parent)][1] @ np.array(b.axis) / np.linalg.norm(b.axis)
        for b in plant.bodies
        if b.joint == "revolute"
    ]
    flat = axes and all(np.linalg.norm(np.cross(axes[0], a)) < 1e-6 for a in axes)
    if flat and all(b.joint != "spherical" for b in plant.bodies):
        to_us = axes[0] * np.sign(axes[0][np.abs(axes[0]).argmax()])
        if abs(up @ to_us) > 0.99:
            up = np.eye(3)[np.abs(to_us).argmin()]
    else:
        side = np.eye(3)[np.abs(up).argmin()]
        forth = np.cross(up, side)
        to_us = 0.45 * up + 0.5 * side + 0.74 * forth
        to_us /= np.linalg.norm(to_us)
    up = up - (up @ to_us) * to_us
    up /= np.linalg.norm(up)
    view = np.array([np.cross(up, to_us), up]).T
    return view, tuple(_direction(v) for v in view.T)


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
